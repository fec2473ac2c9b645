//! [`check`]: whether a gate could be started with settings, and what they come to.

use std::fmt;
use std::net::SocketAddr;

use crate::process::circle::refuse_circles;
use crate::process::credentials::Credentials;
use crate::upstream::endpoints::{Found, LookUpError};
use crate::upstream::names;
use gate_config::settings::listener::ShownCertificates;
use gate_config::settings::root::Settings;

/// Settings with which a gate could be started. Shown, it has a line for each of them.
#[derive(Debug)]
pub struct Checked<'a> {
    settings: &'a Settings,
    shown: Vec<Option<ShownCertificates>>,
    /// Where servers' names lead; with `None` they were not looked up.
    found: Option<Found>,
}

/// Whether the names of servers are looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Names {
    /// As a gate would at its start.
    LookedUp,
    /// They are known only elsewhere.
    NotLookedUp,
}

/// Opens the files of certificates that the settings name, and looks up the names of servers.
///
/// # Errors
/// What is wrong with one of them, with the line that names it; that a server speaks TLS and the machine
/// lacks CA certificates to check its own against; that no server's name leads anywhere, with which no gate starts; or
/// that one is the gate itself.
pub fn check(settings: &Settings, names: Names) -> Result<Checked<'_>, config::Error> {
    settings.has_distinct_addresses()?;
    let shown = Credentials::open(settings)?.shown();
    let found = match names {
        Names::LookedUp => Some(names::find_or(&settings.upstream, drop).map_err(nowhere)?),
        Names::NotLookedUp => None,
    };
    let written = || names::written(&settings.upstream);
    refuse_circles(settings, &found.clone().unwrap_or_else(written), &settings.own_addresses())?;
    Ok(Checked { settings, shown, found })
}

fn nowhere(LookUpError { place, address, why }: LookUpError) -> config::Error {
    place
        .error(format!("upstream {address} cannot be found: {why}"))
        .mend("check its name and port; --offline checks the rest where it is not known")
}

impl fmt::Display for Checked<'_> {
    /// One line per setting.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = self.settings.lines(&self.shown);
        let last = lines.iter().rposition(|(name, _)| *name == "upstream").map_or(0, |last| last + 1);
        lines.splice(last..last, self.names());
        for (name, value) in lines {
            writeln!(f, "  {name:<16} {value}")?;
        }
        Ok(())
    }
}

impl Checked<'_> {
    /// Where each name leads; of an address there is nothing to say.
    fn names(&self) -> Vec<(&'static str, String)> {
        let servers = self.settings.upstream.servers.iter().enumerate();
        let named = servers.filter(|(_, server)| server.address.parse::<SocketAddr>().is_err());
        let line = |(index, server): (usize, &gate_config::settings::upstream::Server)| {
            let found = self.found.as_ref().and_then(|found| found.get(index));
            let leads = match found.map(Vec::as_slice) {
                None => "not looked up".to_owned(),
                Some([]) => {
                    "cannot be found (note: the gate starts without it and looks it up again)".to_owned()
                }
                Some(some) => {
                    let shown: Vec<String> = some.iter().map(|address| address.ip().to_string()).collect();
                    shown.join(", ")
                }
            };
            ("name", format!("{}: {leads}", server.address))
        };
        named.map(line).collect()
    }
}
