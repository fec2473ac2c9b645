//! [`Subject`]: what stands before the server, or under it, and how it is started.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use testbed::Isolation;

use super::case::{Case, Window};
use crate::servers::server::{SERVER_CPU, Server};
use crate::servers::site::{Preloaded, Site};

/// What stands before the server, or under it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Subject {
    /// Nothing.
    Bare,
    /// The library, without a gate.
    Library,
    /// The library and the gate.
    Attached,
    /// `headworks gate` as a proxy.
    Gate,
    /// HAProxy.
    Haproxy,
}

impl Subject {
    /// Who can take part: without a window there is no place to wait for.
    pub(super) fn of(window: Window) -> Vec<Self> {
        match window {
            Window::Open => vec![Self::Bare, Self::Library, Self::Attached, Self::Gate, Self::Haproxy],
            Window::One => vec![Self::Bare, Self::Attached, Self::Gate, Self::Haproxy],
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Bare => "bare",
            Self::Library => "library",
            Self::Attached => "attached",
            Self::Gate => "gate",
            Self::Haproxy => "haproxy",
        }
    }
}

/// A server, and what stands before or under it, on one processor.
#[derive(Debug)]
pub(super) struct Started {
    pub(super) server: Server,
    pub(super) beside: Option<Server>,
    /// How that was started, as one would type it.
    pub(super) command: Option<String>,
}

/// Where configurations, the library and the socket are.
#[derive(Debug)]
pub(super) struct Place {
    root: PathBuf,
    /// The same as it was named, for pages that others read.
    named: PathBuf,
    headworks: String,
    isolation: Isolation,
}

const GATE: &str = include_str!("configurations/gate.toml");
const HAPROXY: &str = include_str!("configurations/haproxy.cfg");

impl Place {
    /// Writes the library there.
    pub(super) fn create(root: &Path, headworks: &Path, isolation: Isolation) -> anyhow::Result<Self> {
        let named = root.join("attach");
        fs::create_dir_all(&named).with_context(|| format!("cannot make {}", named.display()))?;
        let root = named.canonicalize()?;
        let headworks = headworks.display().to_string();
        let library = root.join("shim.so").display().to_string();
        testbed::succeeds(&headworks, &["attach", "--library", &library])?;
        Ok(Self { root, named, headworks, isolation })
    }

    /// Starts a server and the subject.
    pub(super) fn start(&self, site: &Site, case: Case, subject: Subject) -> anyhow::Result<Started> {
        let preloaded = match subject {
            Subject::Library | Subject::Attached => {
                Some(Preloaded { library: self.root.join("shim.so"), socket: self.root.join("attach.sock") })
            }
            Subject::Bare | Subject::Gate | Subject::Haproxy => None,
        };
        let server = site.serve_preloaded(case.kind.content(), SERVER_CPU, preloaded.as_ref())?;
        let [port, admin] = [8081, 9090].map(|port| self.isolation.port(port));
        let (port, admin) = (port?, admin?);
        let write = |name: &str, text: String| {
            let file = self.root.join(name);
            fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))?;
            anyhow::Ok(file.display().to_string())
        };
        let gate = |entrance: &str, upstream: &str| {
            let text = GATE.replace("{entrance}", entrance).replace("{upstream}", upstream);
            let text = text.replace("{window}", &case.window.places().to_string());
            text.replace("{admin}", &admin.to_string())
        };
        let (words, listens) = match subject {
            Subject::Bare | Subject::Library => return Ok(Started { server, beside: None, command: None }),
            Subject::Attached => {
                let file = write("attach.toml", gate("attach = true\nattach-socket = \"attach.sock\"", ""))?;
                (vec![self.headworks.clone(), "gate".to_owned(), "--config".to_owned(), file], admin)
            }
            Subject::Gate => {
                let file = write(
                    "gate.toml",
                    gate(
                        &format!("listen = \"127.0.0.1:{port}\"\nbacklog = 4096"),
                        &format!("[upstream]\naddress = \"127.0.0.1:{}\"", server.port()),
                    ),
                )?;
                (vec![self.headworks.clone(), "gate".to_owned(), "--config".to_owned(), file], port)
            }
            Subject::Haproxy => {
                let text = HAPROXY.replace("{port}", &port.to_string());
                let text = text.replace("{upstream}", &server.port().to_string());
                let file = write("haproxy.cfg", text.replace("{window}", &case.window.places().to_string()))?;
                (vec!["haproxy".to_owned(), "-db".to_owned(), "-f".to_owned(), file], port)
            }
        };
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let beside = server.beside(SERVER_CPU, &words, &self.root.join("stderr"), listens)?;
        let command = testbed::quote(&words);
        let command = command.replace(&self.root.display().to_string(), &self.named.display().to_string());
        if subject == Subject::Attached {
            self.wait_until_attached()?;
        }
        Ok(Started { server, beside: Some(beside), command: Some(command) })
    }

    /// Processes of the server notice at once that there is a gate; it says so.
    fn wait_until_attached(&self) -> anyhow::Result<()> {
        let said = self.root.join("stderr");
        for _ in 0..500 {
            if fs::read_to_string(&said).is_ok_and(|text| text.contains("attached to process")) {
                return Ok(());
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        anyhow::bail!("the server does not attach itself within 5 s")
    }
}
