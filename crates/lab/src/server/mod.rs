//! The servers under test: the lab's own instances, fresh for every test, gone after it.

mod apache;
mod burn;
mod content;
mod nginx;
mod node;
mod origin;

use std::collections::BTreeMap;
use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Command;

use record::ServerEnvironment;
use tempfile::TempDir;
use traffic::Workload;

use crate::machine::Pinning;
use crate::process::Process;
use crate::spec::{Kind, Server};
use crate::{Error, Stop, http};

pub(crate) use content::PROBE;

/// What servers are started with.
#[derive(Debug)]
pub(crate) struct Site<'a> {
    pub(crate) server: &'a Server,
    pub(crate) workload: &'a Workload,
    pub(crate) pinning: &'a Pinning,
    /// The `headworks` program.
    pub(crate) headworks: &'a Path,
}

/// A server that answers. Its processes end, and its directory goes, when it is dropped.
#[derive(Debug)]
pub(crate) struct Running {
    /// Host and port.
    pub(crate) authority: String,
    /// What runs, for the record.
    pub(crate) environment: ServerEnvironment,
    // In this order: the processes end before their directory goes.
    process: Option<Process>,
    /// What computes its pages, if it does not itself.
    behind: Option<Process>,
    _root: Option<TempDir>,
}

impl Running {
    /// Its processes, unless it was there before the lab.
    pub(crate) fn has_died(&mut self) -> Option<Error> {
        [&mut self.process, &mut self.behind].into_iter().flatten().find_map(|process| {
            let status = process.ended()?;
            Some(process.error(format!("died during the test ({status})")))
        })
    }
}

/// How a server of this kind is set up in a directory of its own.
struct Setup {
    name: &'static str,
    program: PathBuf,
    arguments: Vec<String>,
    /// Files to write, by name.
    files: BTreeMap<String, String>,
    version: String,
}

/// A program's own files: world-readable, since a server started by root serves as another user.
pub(crate) fn root() -> Result<TempDir, Error> {
    use std::os::unix::fs::PermissionsExt;
    tempfile::Builder::new()
        .prefix("headworks-")
        .permissions(fs::Permissions::from_mode(0o755))
        .tempdir()
        .map_err(Error::io("create a directory in", &std::env::temp_dir()))
}

pub(crate) fn free_port() -> Result<u16, Error> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .and_then(|listener| listener.local_addr())
        .map(|address| address.port())
        .map_err(Error::io("find a free port on", Path::new("127.0.0.1")))
}

/// Starts something on a free port, which may be taken by another before it takes it.
pub(crate) fn retried<T>(mut start: impl FnMut() -> Result<T, Error>) -> Result<T, Error> {
    const ATTEMPTS: usize = 3;
    for _ in 1..ATTEMPTS {
        match start() {
            Err(Error::Process { said, .. }) if said.contains("ddress already in use") => {}
            other => return other,
        }
    }
    start()
}

impl Site<'_> {
    /// Checks, before anything is measured, that the server can be had at all.
    pub(crate) fn check(&self) -> Result<String, Error> {
        let version = match &self.server.kind {
            Kind::Origin => origin::version(self.headworks),
            Kind::Apache(mpm) => apache::Installed::find(*mpm).map(|installed| installed.version),
            Kind::Nginx => nginx::Installed::find().map(|installed| installed.version),
            Kind::Node => node::Installed::find().map(|installed| installed.version),
            Kind::Url(url) => url_version(url),
        }?;
        Ok(match self.server.backend_workers {
            Some(workers) => format!("{version}, pages by {workers} workers behind it"),
            None => version,
        })
    }

    /// Starts the server and waits until it answers. What it writes goes to `log`.
    pub(crate) fn start(&self, log: &Path, stop: &Stop) -> Result<Running, Error> {
        match &self.server.kind {
            Kind::Origin => origin::start(self, log, stop),
            Kind::Url(url) => self.url(url),
            Kind::Apache(_) | Kind::Nginx | Kind::Node => retried(|| self.start_in_directory(log, stop)),
        }
    }

    fn start_in_directory(&self, log: &Path, stop: &Stop) -> Result<Running, Error> {
        let root = root()?;
        let port = free_port()?;
        content::write(root.path(), self.workload)?;
        let (server, directory) = (self.server, root.path());
        let behind = server.backend_workers.map(|workers| origin::start_behind(self, workers, log, stop));
        let behind = behind.transpose()?;
        let address = behind.as_ref().map(|(address, _)| &**address);
        let setup = match server.kind {
            Kind::Nginx => nginx::Installed::find()?.setup(server, address, directory, port),
            Kind::Apache(mpm) => apache::Installed::find(mpm)?.setup(server, address, directory, port),
            _ => node::Installed::find()?.setup(server, directory, port),
        };
        for (name, text) in &setup.files {
            let file = root.path().join(name);
            fs::write(&file, text).map_err(Error::io("write", &file))?;
        }
        let mut command = self.pinning.command(&self.server.cpus, &setup.program);
        command.args(&setup.arguments);
        let environment = self.environment(setup.version, &command, setup.files);
        let mut process = Process::start(setup.name, command, log)?;
        let authority = format!("127.0.0.1:{port}");
        process.wait_until_ready(&format!("did not answer on {authority}"), stop, |_| {
            http::get(&authority, PROBE).filter(|answer| answer.head.contains(" 200 "))
        })?;
        let behind = behind.map(|(_, process)| process);
        Ok(Running { authority, environment, process: Some(process), behind, _root: Some(root) })
    }

    fn url(&self, url: &str) -> Result<Running, Error> {
        let version = url_version(url)?;
        let environment = ServerEnvironment { kind: "url".to_owned(), version, ..Default::default() };
        let authority = http::authority(url).unwrap_or_default();
        Ok(Running { authority, environment, process: None, behind: None, _root: None })
    }

    fn environment(
        &self,
        version: String,
        command: &Command,
        configuration: BTreeMap<String, String>,
    ) -> ServerEnvironment {
        let words = std::iter::once(command.get_program()).chain(command.get_args());
        ServerEnvironment {
            kind: self.server.kind.name().to_owned(),
            version,
            command: words.map(|word| word.to_string_lossy().into_owned()).collect(),
            configuration,
        }
    }
}

fn url_version(url: &str) -> Result<String, Error> {
    let authority = http::authority(url).unwrap_or_default();
    let answer = http::get(&authority, "/").ok_or_else(|| Error::Process {
        name: "server",
        what: format!(
            "does not answer at {url}; start it, or let the lab start one (server.kind = \"origin\")"
        ),
        said: String::new(),
    })?;
    Ok(answer.header("server").unwrap_or_default().to_owned())
}

#[cfg(test)]
mod tests;
