//! The proxies: how each is set up for one and the same task, with one thread.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use super::case::{Answer, Case};
use super::protocol::Protocol;
use testbed::Isolation;

use crate::servers::certificate::certificate;
use crate::servers::server::{SERVER_CPU, Server};

/// A reverse proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Proxy {
    /// `headworks gate`, its policy on.
    Gate,
    Haproxy,
    Nginx,
}

impl Proxy {
    pub(super) const ALL: [Self; 3] = [Self::Gate, Self::Haproxy, Self::Nginx];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Gate => "gate",
            Self::Haproxy => "haproxy",
            Self::Nginx => "nginx",
        }
    }

    fn template(self) -> (&'static str, &'static str) {
        match self {
            Self::Gate => ("gate.toml", include_str!("configurations/gate.toml")),
            Self::Haproxy => ("haproxy.cfg", include_str!("configurations/haproxy.cfg")),
            Self::Nginx => ("nginx.conf", include_str!("configurations/nginx.conf")),
        }
    }

    fn words<'a>(self, headworks: &'a str, file: &'a str) -> Vec<&'a str> {
        match self {
            Self::Gate => vec![headworks, "gate", "--config", file],
            Self::Haproxy => vec!["haproxy", "-db", "-f", file],
            Self::Nginx => vec!["nginx", "-c", file, "-e", "stderr"],
        }
    }

    /// The version that is installed; an error when the program is not there.
    pub(super) fn version(self, headworks: &Path) -> anyhow::Result<String> {
        let text = match self {
            Self::Gate => testbed::says(&headworks.display().to_string(), &["--version"])?,
            Self::Haproxy => testbed::says("haproxy", &["-v"])?,
            Self::Nginx => return crate::servers::site::version(),
        };
        let line = text.lines().next().unwrap_or_default();
        Ok(line.split(" - ").next().unwrap_or_default().trim().to_owned())
    }
}

/// Where configurations and the certificate are.
#[derive(Debug)]
pub(super) struct ProxyFiles {
    root: PathBuf,
    /// The same as it was named, for pages that others read.
    named: PathBuf,
    headworks: String,
    isolation: Isolation,
}

impl ProxyFiles {
    /// Makes a certificate for all of them.
    pub(super) fn create(root: &Path, headworks: &Path, isolation: Isolation) -> anyhow::Result<Self> {
        let named = root.join("proxies");
        fs::create_dir_all(&named).with_context(|| format!("cannot make {}", named.display()))?;
        let root = named.canonicalize()?;
        certificate(&root)?;
        let both = [fs::read(root.join("certificate.pem"))?, fs::read(root.join("key.pem"))?].concat();
        fs::write(root.join("both.pem"), both)?;
        Ok(Self { root, named, headworks: headworks.display().to_string(), isolation })
    }

    /// Starts a proxy before a server, on the processor that is measured, and waits until it listens
    /// for this protocol.
    pub(super) fn start(
        &self,
        proxy: Proxy,
        upstream: &Server,
        case: Case,
    ) -> anyhow::Result<(Server, String)> {
        let [port, secure, admin] = [8081, 8443, 9090].map(|port| self.isolation.port(port));
        let (port, secure, admin) = (port?, secure?, admin?);
        let (name, template) = proxy.template();
        // With one place, which the first request keeps, and one that waits for it, no other finds room.
        let (window, queue) = match case.answer {
            Answer::Served => ("64", "2000"),
            Answer::Refused => ("1", "1"),
        };
        let text = template
            .replace("{window}", window)
            .replace("{queue}", queue)
            .replace("{port}", &port.to_string())
            .replace("{secure}", &secure.to_string())
            .replace("{admin}", &admin.to_string())
            .replace("{upstream}", &upstream.port().to_string())
            .replace("{place}", &self.root.display().to_string())
            .replace("{user}", if self.isolation.as_root() { "user root;" } else { "" });
        let file = self.root.join(name);
        fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))?;
        let (file, named) = (file.display().to_string(), self.named.join(name).display().to_string());
        let words = proxy.words(&self.headworks, &file);
        let port = if case.protocol == Protocol::Http1 { port } else { secure };
        let server = upstream.beside(SERVER_CPU, &words, &self.root.join("stderr"), port)?;
        Ok((server, testbed::quote(&proxy.words(&self.headworks, &named))))
    }

    /// A file beside the configurations.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Fails if a proxy cannot be started at all.
    pub(super) fn try_all(&self, upstream: &Server) -> anyhow::Result<()> {
        for proxy in Proxy::ALL {
            if let Err(why) = self.start(proxy, upstream, Case { protocol: Protocol::Tls, ..Case::FIRST }) {
                bail!("{} does not start: {why:#}", proxy.name());
            }
        }
        Ok(())
    }
}
