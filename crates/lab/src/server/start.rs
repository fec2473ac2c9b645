//! Starting the servers under test: the lab's own instances, fresh for every test, gone after it.

use std::fs;
use std::net::{Ipv4Addr, SocketAddrV4, TcpStream};
use std::path::Path;

use record::ServerEnvironment;
use testbed::{Process, Stop, free_port, retried};

use super::content::{self, PROBE};
use super::running::Running;
use super::site::Site;
use super::{apache, command, nginx, node, origin};
use crate::error::Error;
use crate::http;
use crate::spec::server::{Kind, Server};

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
        let mut running = match &self.server.kind {
            Kind::Origin => origin::start(self, log, stop)?,
            Kind::Url(url) => self.url(url)?,
            Kind::Apache(_) | Kind::Nginx | Kind::Node | Kind::Command(_) => {
                retried(|| self.start_in_directory(log, stop), Error::is_address_taken)?
            }
        };
        running.neighbour = self.start_neighbour(log)?;
        Ok(running)
    }

    fn start_neighbour(&self, log: &Path) -> Result<Option<Process>, Error> {
        let Some((name, arguments)) = self.server.neighbour.split_first() else { return Ok(None) };
        let program = testbed::program(name).ok_or_else(|| Error::NoProgram(name.clone()))?;
        let mut command = self.testbed.beside(&program);
        command.args(arguments);
        Ok(Some(Process::start("neighbour", command, &log.with_file_name("neighbour.log"))?))
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
        command.args(&setup.arguments).envs(self.variables.iter().map(|(name, value)| (name, value)));
        let environment = self.environment(setup.version, &command, setup.files);
        let mut server = testbed::Server::start(setup.name, command, log, Some(root))?;
        let authority = listen.to_string();
        server.process().wait_until_ready(&format!("did not answer on {authority}"), stop, |_| {
            // What a program of the user's own has is not known; that it answers is enough, and over TLS that it accepts.
            let is_ours = !matches!(self.server.kind, Kind::Command(_));
            if self.asked.tls {
                return self.testbed.reach(&authority, || TcpStream::connect(&authority).ok().map(drop));
            }
            let answer = http::from(self.testbed, &authority, PROBE);
            answer.filter(|answer| !is_ours || answer.status == 200).map(drop)
        })?;
        if let Some(status) = server.process().ended() {
            return Err(Error::Background { status, authority });
        }
        let behind = behind.map(|(_, process)| process);
        Ok(Running { authority, environment, server: Some(server), behind, neighbour: None })
    }

    fn url(&self, url: &str) -> Result<Running, Error> {
        let version = url_version(url)?;
        let environment = ServerEnvironment { kind: "url".to_owned(), version, ..Default::default() };
        let authority = http::authority(url).unwrap_or_default();
        Ok(Running { authority, environment, server: None, behind: None, neighbour: None })
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
