//! The servers under test: the lab's own instances, fresh for every test, gone after it.

mod apache;
mod burn;
pub(crate) mod command;
mod content;
mod nginx;
mod node;
mod origin;

use std::collections::BTreeMap;
use std::fs;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::{Path, PathBuf};
use std::process::Command;

use record::ServerEnvironment;
use testbed::{Process, Stop, Testbed, free_port, retried};
use traffic::Workload;

use crate::spec::{Asked, Kind, Server};
use crate::{Error, http};

pub(crate) use content::{PROBE, forget};
pub(crate) use origin::start_reference;

/// What servers are started with.
#[derive(Debug)]
pub(crate) struct Site<'a> {
    pub(crate) server: &'a Server,
    pub(crate) workload: &'a Workload,
    pub(crate) asked: &'a Asked,
    pub(crate) testbed: &'a Testbed<'a>,
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
    /// Nothing of one that was there before the lab.
    server: Option<testbed::Server>,
    /// What computes its pages, if it does not itself.
    behind: Option<Process>,
}

impl Running {
    /// Where its files are, if they are the lab's.
    pub(crate) fn content(&self) -> Option<PathBuf> {
        Some(self.server.as_ref()?.root()?.join(content::DIRECTORY))
    }

    /// Its processes, unless it was there before the lab.
    pub(crate) fn has_died(&mut self) -> Option<Error> {
        let died = self.server.as_mut().and_then(testbed::Server::has_died);
        died.or_else(|| self.behind.as_mut()?.has_died()).map(Error::from)
    }
}

/// What a server writes, in a test's directory.
pub(crate) const LOG: &str = "server.log";

/// Checks, before anything is measured, that a server can be had at all; gives its version.
pub(crate) fn check(server: &Server, headworks: &Path) -> Result<String, Error> {
    let version = match &server.kind {
        Kind::Origin => origin::version(headworks),
        Kind::Apache(mpm) => apache::Installed::find(*mpm).map(|installed| installed.version),
        Kind::Nginx => nginx::Installed::find().map(|installed| installed.version),
        Kind::Node => node::Installed::find().map(|installed| installed.version),
        Kind::Command(words) => command::Installed::find(words).map(|installed| installed.version),
        Kind::Url(url) => url_version(url),
    }?;
    check_directives(server)?;
    Ok(match server.backend_workers {
        Some(workers) => format!("{version}, pages by {workers} workers behind it"),
        None => version,
    })
}

/// Has the server itself judge what its configuration says besides, where it says something.
fn check_directives(server: &Server) -> Result<(), Error> {
    if server.directives.is_empty() {
        return Ok(());
    }
    let root = testbed::directory()?;
    let content = root.path().join(content::DIRECTORY);
    fs::create_dir(&content).map_err(Error::io("create", &content))?;
    let listen = SocketAddrV4::new(Ipv4Addr::LOCALHOST, free_port()?);
    // It is not asked.
    let behind = server.backend_workers.map(|_| "127.0.0.1:9");
    let setup = match server.kind {
        Kind::Nginx => nginx::Installed::find()?.setup(server, behind, root.path(), listen),
        Kind::Apache(mpm) => apache::Installed::find(mpm)?.setup(server, behind, root.path(), listen),
        _ => return Ok(()),
    };
    setup.write(root.path())?;
    match setup.refusal(root.path())? {
        Some(said) => Err(Error::Directives { name: setup.name, said }),
        None => Ok(()),
    }
}

impl Site<'_> {
    /// Starts the server and waits until it answers. What it writes goes to `log`.
    pub(crate) fn start(&self, log: &Path, stop: &Stop) -> Result<Running, Error> {
        match &self.server.kind {
            Kind::Origin => origin::start(self, log, stop),
            Kind::Url(url) => self.url(url),
            Kind::Apache(_) | Kind::Nginx | Kind::Node | Kind::Command(_) => {
                retried(|| self.start_in_directory(log, stop), Error::is_address_taken)
            }
        }
    }

    fn start_in_directory(&self, log: &Path, stop: &Stop) -> Result<Running, Error> {
        let root = testbed::directory()?;
        content::write(root.path(), self.workload, self.asked)?;
        let (server, directory) = (self.server, root.path());
        let behind = server.backend_workers.map(|workers| origin::start_behind(self, workers, log, stop));
        let behind = behind.transpose()?;
        let address = behind.as_ref().map(|(address, _)| &**address);
        let listen = SocketAddrV4::new(self.testbed.address(), free_port()?);
        let setup = match &server.kind {
            Kind::Nginx => nginx::Installed::find()?.setup(server, address, directory, listen),
            Kind::Apache(mpm) => apache::Installed::find(*mpm)?.setup(server, address, directory, listen),
            Kind::Command(words) => command::Installed::find(words)?.setup(server, words, directory, listen),
            _ => node::Installed::find()?.setup(server, directory, listen),
        };
        setup.write(root.path())?;
        let mut command = self.testbed.server(&setup.program);
        command.args(&setup.arguments);
        let environment = self.environment(setup.version, &command, setup.files);
        let mut server = testbed::Server::start(setup.name, command, log, Some(root))?;
        let authority = listen.to_string();
        server.process().wait_until_ready(&format!("did not answer on {authority}"), stop, |_| {
            // What a program of the user's own has is not known; that it answers is enough.
            let is_ours = !matches!(self.server.kind, Kind::Command(_));
            http::from(self.testbed, &authority, PROBE).filter(|answer| !is_ours || answer.status == 200)
        })?;
        if let Some(status) = server.process().ended() {
            return Err(Error::Background { status, authority });
        }
        let behind = behind.map(|(_, process)| process);
        Ok(Running { authority, environment, server: Some(server), behind })
    }

    fn url(&self, url: &str) -> Result<Running, Error> {
        let version = url_version(url)?;
        let environment = ServerEnvironment { kind: "url".to_owned(), version, ..Default::default() };
        let authority = http::authority(url).unwrap_or_default();
        Ok(Running { authority, environment, server: None, behind: None })
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
    let answer = http::get(&authority, "/").ok_or_else(|| testbed::Error::Process {
        name: "server",
        what: format!(
            "does not answer at {url}; start it, or let the lab start one (server.kind = \"origin\")"
        ),
        said: String::new(),
    })?;
    Ok(answer.server)
}

#[cfg(test)]
mod tests;
