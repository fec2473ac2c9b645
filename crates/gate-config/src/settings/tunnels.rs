//! `[tunnels]`: connections on which another protocol is spoken, WebSocket above all.

use std::time::Duration;

use config::{Error, Source, Spanned, quantity};
use schemars::JsonSchema;
use serde::Deserialize;
use units::Span;

use crate::settings::number::{Time, set, set_above_zero};
use crate::settings::words;

/// Which protocols clients may change to, and what that may cost.
#[derive(Debug, Clone)]
pub struct Tunnels {
    /// In lower case. With none of them, `Upgrade` is ignored.
    pub protocols: Vec<String>,
    /// At once; they count in no window.
    pub most: u32,
    /// Without a byte in either direction.
    pub idle_timeout: Duration,
    /// For all of them to end, one after the other, when the gate is told to stop.
    pub drain_timeout: Duration,
}

/// Protocols that would carry requests past the gate.
const HTTP: [&str; 3] = ["h2c", "h2", "http"];

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct TunnelsFile {
    /// That a connection may go over to.
    protocols: Option<Vec<Spanned<String>>>,
    /// At once.
    most: Option<u32>,
    /// Without a byte in either direction.
    idle_timeout: Option<Time>,
    /// For all of them to end, one after the other, when the gate stops or is replaced.
    #[serde(default, with = "quantity::optional")]
    #[schemars(with = "Option<config::Quantity<Span>>")]
    drain_timeout: Option<Span>,
}

impl Default for Tunnels {
    fn default() -> Self {
        Self {
            protocols: vec!["websocket".to_owned()],
            most: 1024,
            idle_timeout: Duration::from_secs(300),
            // As long as requests have. A service manager that stops the old gate before it starts the new one
            // keeps every new client waiting meanwhile; and at most a hundred come back per second.
            drain_timeout: Duration::from_secs(10),
        }
    }
}

pub(super) fn resolve(source: &Source, file: &TunnelsFile) -> Result<Tunnels, Error> {
    let mut tunnels = Tunnels::default();
    if let Some(protocols) = &file.protocols {
        tunnels.protocols.clear();
        for protocol in protocols {
            let name = protocol.get_ref().to_ascii_lowercase();
            if !words::is_token(&name) {
                let what = format!("\"{name}\" is not the name of a protocol");
                return Err(source.error(protocol.span(), what).mend("give for example \"websocket\""));
            }
            if HTTP.contains(&name.as_str()) || name.starts_with("tls") {
                let what = format!("a tunnel of {name} would carry requests that nobody sees");
                return Err(source.error(protocol.span(), what).mend("leave it out"));
            }
            tunnels.protocols.push(name);
        }
    }
    tunnels.most = file.most.unwrap_or(tunnels.most);
    set_above_zero(source, &mut tunnels.idle_timeout, &file.idle_timeout, "idle-timeout")?;
    set(&mut tunnels.drain_timeout, file.drain_timeout);
    Ok(tunnels)
}

impl Tunnels {
    /// One line; `most` are those at once, as it is said.
    pub(super) fn describe(&self, most: &str) -> Vec<(&'static str, String)> {
        let protocols = match self.protocols.as_slice() {
            [] => "none".to_owned(),
            some => format!(
                "{}, at most {most}, idle {}, drain {}",
                some.join(" "),
                Span::from(self.idle_timeout),
                Span::from(self.drain_timeout)
            ),
        };
        vec![("tunnels", protocols)]
    }
}
