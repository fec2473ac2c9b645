//! [`Proxy`]: other software where the gate would stand: HAProxy, nginx, or Apache with mod_qos, each set up to favour the
//! same users in front of the same server. The templates say why they are as they are.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use testbed::{APACHE_MODULES, Software, Stop, Testbed, free_port, retried};

use crate::error::Error;
use crate::http;
use crate::server::content::PROBE;
use crate::spec::contenders::ContenderSettings;
use crate::spec::server::Server;
use crate::spec::subject::Contender;

impl Contender {
    const fn name(self) -> &'static str {
        match self {
            Self::Haproxy => "haproxy",
            Self::Nginx => "nginx",
            Self::ModQos => "mod_qos",
        }
    }

    const fn software(self) -> Software {
        match self {
            Self::Haproxy => Software::Haproxy,
            Self::Nginx => Software::Nginx,
            Self::ModQos => Software::Apache,
        }
    }

    const fn packages(self) -> &'static str {
        match self {
            Self::ModQos => "apache2-bin libapache2-mod-qos",
            other => other.software().package(),
        }
    }

    /// Name of the configuration in the record of a test.
    const fn file(self) -> &'static str {
        match self {
            Self::Haproxy => "haproxy.cfg",
            Self::Nginx => "nginx-proxy.conf",
            Self::ModQos => "mod_qos.conf",
        }
    }

    const fn template(self) -> &'static str {
        match self {
            Self::Haproxy => include_str!("../../templates/haproxy.cfg"),
            Self::Nginx => include_str!("../../templates/nginx-proxy.conf"),
            Self::ModQos => include_str!("../../templates/mod_qos.conf"),
        }
    }

    /// Checks, before anything is measured, that it is installed.
    pub(crate) fn check(self) -> Result<(), Error> {
        self.find().map(|_| ())
    }

    fn find(self) -> Result<PathBuf, Error> {
        let file = Path::new(APACHE_MODULES).join("mod_qos.so");
        if self == Self::ModQos && !file.is_file() {
            let program = file.display().to_string();
            return Err(testbed::Error::Missing { program, package: self.packages() }.into());
        }
        Ok(self.software().find(self.packages())?)
    }

    fn configuration(self, place: &Placement, port: u16, root: &Path) -> String {
        let ContenderSettings { cookie, value, window, patience, others, newcomers } = place.settings;
        render(
            self.template(),
            &[
                ("user", self.software().user().trim_end().to_owned()),
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
pub(crate) struct Placement<'a> {
    pub(crate) settings: &'a ContenderSettings,
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
pub(crate) struct Proxy {
    /// Host and port for clients.
    pub(crate) authority: String,
    server: testbed::Server,
}

impl Proxy {
    /// Starts one of this kind and waits until it passes requests on.
    pub(crate) fn start(kind: Contender, place: &Placement, stop: &Stop) -> Result<Self, Error> {
        retried(|| Self::attempt(kind, place, stop), Error::is_address_taken)
    }

    fn attempt(kind: Contender, place: &Placement, stop: &Stop) -> Result<Self, Error> {
        let program = kind.find()?;
        let (root, port) = (testbed::directory()?, free_port()?);
        let file = place.directory.join(kind.file());
        let text = kind.configuration(place, port, root.path());
        fs::write(&file, format!("# {}\n{text}", kind.software().version(&program)?))
            .map_err(Error::io("write", &file))?;
        // It changes to its own directory.
        let file = file.canonicalize().map_err(Error::io("find", &file))?;
        let mut command = place.testbed.in_front(&program);
        command.args(kind.software().arguments(root.path(), &file));
        let log = place.directory.join(format!("{}.log", kind.name()));
        let mut server = testbed::Server::start(kind.name(), command, &log, Some(root))?;
        let authority = format!("{}:{port}", place.testbed.address());
        server.process().wait_until_ready(&format!("did not answer on {authority}"), stop, |_| {
            http::from(place.testbed, &authority, PROBE).filter(|answer| answer.status == 200)
        })?;
        Ok(Self { authority, server })
    }

    /// How it ended, when it should not have.
    pub(crate) fn has_died(&mut self) -> Option<Error> {
        self.server.has_died().map(Error::from)
    }
}

#[cfg(test)]
mod tests;
