//! Other software where the gate would stand: HAProxy, nginx, or Apache with mod_qos, each set up to favour the
//! same users in front of the same server. The templates say why they are as they are.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;

use crate::machine::program;
use crate::process::{self, Process};
use crate::server::{PROBE, free_port, retried, root};
use crate::spec::{Peers, Server};
use crate::testbed::Testbed;
use crate::{Error, Stop};

const APACHE_MODULES: &str = "/usr/lib/apache2/modules";

/// Which software it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Haproxy,
    Nginx,
    ModQos,
}

/// How a kind is found and configured.
struct Software {
    name: &'static str,
    program: &'static str,
    package: &'static str,
    /// What is needed beside the program.
    module: Option<&'static str>,
    /// Name of the configuration in the record of a test.
    file: &'static str,
    template: &'static str,
}

impl Kind {
    const fn software(self) -> Software {
        match self {
            Self::Haproxy => Software {
                name: "haproxy",
                program: "haproxy",
                package: "haproxy",
                module: None,
                file: "haproxy.cfg",
                template: include_str!("../templates/haproxy.cfg"),
            },
            Self::Nginx => Software {
                name: "nginx",
                program: "nginx",
                package: "nginx-light",
                module: None,
                file: "nginx-proxy.conf",
                template: include_str!("../templates/nginx-proxy.conf"),
            },
            Self::ModQos => Software {
                name: "mod_qos",
                program: "apache2",
                package: "apache2-bin libapache2-mod-qos",
                module: Some("mod_qos.so"),
                file: "mod_qos.conf",
                template: include_str!("../templates/mod_qos.conf"),
            },
        }
    }

    /// Checks, before anything is measured, that it is installed.
    pub(crate) fn check(self) -> Result<(), Error> {
        self.find().map(|_| ())
    }

    fn find(self) -> Result<PathBuf, Error> {
        let software = self.software();
        let missing = |what: String| Error::Missing { program: what, package: software.package };
        if let Some(module) = software.module {
            let file = Path::new(APACHE_MODULES).join(module);
            if !file.is_file() {
                return Err(missing(file.display().to_string()));
            }
        }
        program(software.program).ok_or_else(|| missing(software.program.to_owned()))
    }

    /// Its version as it states it, on one line.
    fn version(self, program: &Path) -> Result<String, Error> {
        let (text, _) = process::output(self.software().name, Command::new(program).arg("-v"))?;
        Ok(text.lines().next().unwrap_or_default().to_owned())
    }

    fn arguments(self, file: &str, root: &str) -> Vec<String> {
        let words: &[&str] = match self {
            Self::Haproxy => &["-db", "-f", file],
            Self::Nginx => &["-p", root, "-c", file, "-e", "stderr"],
            Self::ModQos => &["-d", root, "-f", file, "-DFOREGROUND"],
        };
        words.iter().map(|&word| word.to_owned()).collect()
    }

    /// Started as root they serve as another user, who can have no files of root's.
    fn user(self, as_root: bool) -> &'static str {
        match self {
            Self::Nginx if as_root => "user www-data;",
            Self::ModQos if as_root => "User www-data\nGroup www-data",
            _ => "",
        }
    }

    fn configuration(self, place: &Place, port: u16, root: &Path) -> String {
        let Peers { cookie, value, window, patience, others, newcomers } = place.peers;
        let as_root = rustix::process::getuid().is_root();
        render(
            self.software().template,
            &[
                ("user", self.user(as_root).to_owned()),
                ("root", root.display().to_string()),
                ("modules", APACHE_MODULES.to_owned()),
                ("address", place.testbed.address().to_string()),
                ("port", port.to_string()),
                ("upstream", place.upstream.to_owned()),
                ("backlog", place.server.backlog.to_string()),
                // Whole seconds, at least one: 0 would mean no keep-alive at all.
                ("keep-alive", place.server.keep_alive.as_secs_f64().ceil().max(1.0).to_string()),
                ("cookie", cookie.clone()),
                ("value", value.clone()),
                ("window", window.to_string()),
                ("patience", Duration::from(*patience).as_millis().to_string()),
                ("others", others.to_string()),
                ("newcomers", newcomers.to_string()),
            ],
        )
    }
}

/// `template` with each `@name@` replaced.
fn render(template: &str, values: &[(&str, String)]) -> String {
    values.iter().fold(template.to_owned(), |text, (name, value)| text.replace(&format!("@{name}@"), value))
}

/// Where one is put.
#[derive(Debug)]
pub(crate) struct Place<'a> {
    pub(crate) peers: &'a Peers,
    /// Its listen queue and keep-alive are those of the server.
    pub(crate) server: &'a Server,
    /// Host and port of the server.
    pub(crate) upstream: &'a str,
    pub(crate) testbed: &'a Testbed<'a>,
    /// Where its configuration and log are kept.
    pub(crate) directory: &'a Path,
}

/// One that serves. Its processes end, and its directory goes, when it is dropped.
#[derive(Debug)]
pub(crate) struct Peer {
    /// Host and port for clients.
    pub(crate) authority: String,
    // In this order: the processes end before their directory goes.
    process: Process,
    _root: TempDir,
}

impl Peer {
    /// Starts one of this kind and waits until it passes requests on.
    pub(crate) fn start(kind: Kind, place: &Place, stop: &Stop) -> Result<Self, Error> {
        retried(|| Self::attempt(kind, place, stop))
    }

    fn attempt(kind: Kind, place: &Place, stop: &Stop) -> Result<Self, Error> {
        let (program, software) = (kind.find()?, kind.software());
        let (root, port) = (root()?, free_port()?);
        let file = place.directory.join(software.file);
        let text = kind.configuration(place, port, root.path());
        fs::write(&file, format!("# {}\n{text}", kind.version(&program)?))
            .map_err(Error::io("write", &file))?;
        // It changes to its own directory.
        let file = file.canonicalize().map_err(Error::io("find", &file))?;
        let mut command = place.testbed.beside(&program);
        command.args(kind.arguments(&file.display().to_string(), &root.path().display().to_string()));
        let log = place.directory.join(format!("{}.log", software.name));
        let mut process = Process::start(software.name, command, &log)?;
        let authority = format!("{}:{port}", place.testbed.address());
        process.wait_until_ready(&format!("did not answer on {authority}"), stop, |_| {
            place.testbed.get(&authority, PROBE).filter(|answer| answer.head.contains(" 200 "))
        })?;
        Ok(Self { authority, process, _root: root })
    }

    /// How it ended, when it should not have.
    pub(crate) fn has_died(&mut self) -> Option<Error> {
        let status = self.process.ended()?;
        Some(self.process.error(format!("died during the test ({status})")))
    }
}

#[cfg(test)]
mod tests;
