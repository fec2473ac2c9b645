//! The gate in front of the server, `headworks gate`, as a process.

use std::fs;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use toml::{Table, Value};

use super::series::GateSeries;
use crate::error::Error;
use crate::http;
use testbed::Stop;
use testbed::Testbed;
use testbed::{Process, output};

/// Of a gate that is under its server, in a directory of its own.
const SOCKET: &str = "attach.sock";
const LIBRARY: &str = "shim.so";

/// A gate that listens.
#[derive(Debug)]
pub(crate) struct Gate {
    /// Host and port for clients; nothing of one that is under its server.
    pub(crate) authority: Option<String>,
    admin: String,
    series: GateSeries,
    process: Process,
    /// Where its socket and library are, if it is.
    place: Option<TempDir>,
}

impl Gate {
    /// Starts a gate with `settings` in front of `upstream`; its files go into `directory`.
    pub(crate) fn start(
        headworks: &Path,
        settings: &Table,
        upstream: &str,
        testbed: &Testbed,
        directory: &Path,
        stop: &Stop,
    ) -> Result<Self, Error> {
        let file = write(settings, upstream, testbed.address(), directory)?;
        let mut process = run(headworks, &file, testbed, directory)?;
        let authority = Some(process.wait_for_line("listening on http://", stop)?);
        let admin = process.wait_for_line("admin on http://", stop)?;
        Ok(Self { authority, admin, series: GateSeries::begin(), process, place: None })
    }

    /// Starts a gate with `settings` for a server that is to be attached to it; its files go into `directory`.
    pub(crate) fn start_under(
        headworks: &Path,
        settings: &Table,
        testbed: &Testbed,
        directory: &Path,
        stop: &Stop,
    ) -> Result<Self, Error> {
        let place = testbed::directory()?;
        let mut settings = settings.clone();
        ["listen", "listener", "upstream", "forwarded"]
            .into_iter()
            .for_each(|key| drop(settings.remove(key)));
        settings.insert("attach".to_owned(), Value::Boolean(true));
        let socket = place.path().join(SOCKET).display().to_string();
        let admin = format!("{}:0", Ipv4Addr::LOCALHOST);
        for (key, value) in [("attach-socket", socket), ("admin", admin)] {
            settings.insert(key.to_owned(), Value::String(value));
        }
        let file = save(&settings, directory)?;
        let mut library = Command::new(headworks);
        let (said, status) =
            output("gate", library.args(["attach", "--library"]).arg(place.path().join(LIBRARY)))?;
        if !status.success() {
            return Err(Error::Gate(said));
        }
        let mut process = run(headworks, &file, testbed, directory)?;
        let admin = process.wait_for_line("admin on http://", stop)?;
        Ok(Self { authority: None, admin, series: GateSeries::begin(), process, place: Some(place) })
    }

    /// What a server is told in its environment that is to be attached to it.
    pub(crate) fn variables(&self) -> Vec<(&'static str, PathBuf)> {
        let place = self.place.iter().map(TempDir::path);
        place
            .flat_map(|place| [("LD_PRELOAD", place.join(LIBRARY)), ("HEADWORKS_ATTACH", place.join(SOCKET))])
            .collect()
    }

    /// Keeps an eye on it while clients are served.
    pub(crate) fn look(&mut self, testbed: &Testbed) {
        self.series.look(|| http::from(testbed, &self.admin, "/metrics"));
    }

    /// Keeps what it counted.
    pub(crate) fn keep_metrics(&self, testbed: &Testbed, directory: &Path) -> Result<(), Error> {
        let answer = http::from(testbed, &self.admin, "/metrics")
            .ok_or_else(|| self.process.error("does not answer on its admin address".to_owned()))?;
        let file = directory.join("gate.metrics");
        fs::write(&file, answer.body).map_err(Error::io("write", &file))?;
        self.series.keep(directory)
    }

    /// How it ended, when it should not have.
    pub(crate) fn has_died(&mut self) -> Option<Error> {
        self.process.has_died().map(Error::from)
    }
}

fn run(headworks: &Path, file: &Path, testbed: &Testbed, directory: &Path) -> Result<Process, Error> {
    let mut command = testbed.in_front(headworks);
    command.args(["gate", "--config"]).arg(file);
    Ok(Process::start("gate", command, &directory.join("gate.log"))?)
}

/// Lets the gate itself judge the settings, before anything is measured.
pub(crate) fn check(headworks: &Path, settings: &Table) -> Result<(), Error> {
    let directory = tempfile::tempdir().map_err(Error::io("create a directory in", &std::env::temp_dir()))?;
    let file = write(settings, "127.0.0.1:1", Ipv4Addr::LOCALHOST, directory.path())?;
    let mut command = Command::new(headworks);
    command.args(["gate", "check"]).arg(&file);
    let (text, status) = output("gate", &mut command)?;
    if status.success() {
        return Ok(());
    }
    // Places in a file that the lab made up help the user in nothing.
    let place = format!("{}:", file.display());
    let text = text.trim_start_matches("headworks: ").trim_start_matches(&place);
    Err(Error::Gate(
        text.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start_matches(": ").to_owned(),
    ))
}

fn write(settings: &Table, upstream: &str, address: Ipv4Addr, directory: &Path) -> Result<PathBuf, Error> {
    let mut settings = settings.clone();
    // The admin interface is for programs on this machine.
    for (key, address) in [("listen", address), ("admin", Ipv4Addr::LOCALHOST)] {
        settings.insert(key.to_owned(), Value::String(format!("{address}:0")));
    }
    let address = Value::String(upstream.to_owned());
    match settings.get_mut("upstream") {
        // Its timeouts may be set in the spec.
        Some(Value::Table(upstream)) => upstream.insert("address".to_owned(), address),
        _ => settings.insert("upstream".to_owned(), address),
    };
    save(&settings, directory)
}

fn save(settings: &Table, directory: &Path) -> Result<PathBuf, Error> {
    let file = directory.join("gate.toml");
    let text = toml::to_string(settings).map_err(|why| Error::Gate(why.to_string()))?;
    fs::write(&file, text).map_err(Error::io("write", &file))?;
    Ok(file)
}
