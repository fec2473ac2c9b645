//! [`check`]: whether a gate could be started with settings, and what they come to.

use std::fmt;

use crate::process::credentials::Credentials;
use gate_config::settings::listener::ShownCertificates;
use gate_config::settings::root::Settings;

/// Settings with which a gate could be started. Shown, it has a line for each of them.
#[derive(Debug)]
pub struct Checked<'a> {
    settings: &'a Settings,
    shown: Vec<Option<ShownCertificates>>,
}

/// Opens the files of certificates that the settings name.
///
/// # Errors
/// What is wrong with one of them, with the line that names it; or that a server speaks TLS and the machine
/// lacks CA certificates to check its own against.
pub fn check(settings: &Settings) -> Result<Checked<'_>, config::Error> {
    let shown = Credentials::open(settings)?.shown();
    Ok(Checked { settings, shown })
}

impl fmt::Display for Checked<'_> {
    /// One line per setting.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, value) in self.settings.lines(&self.shown) {
            writeln!(f, "  {name:<16} {value}")?;
        }
        Ok(())
    }
}
