//! [`Settings`]: everything the gate can be told, its defaults, and reading it from a file.
//!
//! `file` is the file as it is written, `resolve` makes settings of it or says what is wrong,
//! `describe` shows what every default came to.

mod describe;
mod file;
mod pattern;
mod resolve;
mod secret;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, StatusCode};
use policy::SessionLimits;
use units::ClassId;

use crate::classify::{Rules, Subject};
use crate::error::Error;
use crate::token::Key;

/// Everything the gate can be told. Made by [`Settings::new`] or [`Settings::read`].
#[derive(Debug, Clone)]
pub struct Settings {
    pub(crate) listen: SocketAddr,
    pub(crate) admin: SocketAddr,
    pub(crate) backlog: u32,
    pub(crate) policy: policy::Config,
    pub(crate) classes: Vec<String>,
    pub(crate) rules: Rules,
    pub(crate) upstream: Upstream,
    pub(crate) session: Sessions,
    pub(crate) reject: Reject,
    pub(crate) client: Clients,
}

/// The server behind the gate.
#[derive(Debug, Clone)]
pub(crate) struct Upstream {
    /// Host and port, not yet resolved.
    pub(crate) address: String,
    pub(crate) connect_timeout: Duration,
    /// For the head of a response, and for the next piece of its body.
    pub(crate) timeout: Duration,
    /// A process-based server gives a whole process to an idle connection.
    pub(crate) idle_timeout: Duration,
}

/// Session cookies.
#[derive(Debug, Clone)]
pub(crate) struct Sessions {
    pub(crate) cookie: String,
    pub(crate) secure: bool,
    pub(crate) limits: SessionLimits,
    /// The first seals, all open.
    pub(crate) keys: Vec<Key>,
    /// Whether nobody gave a secret, so that sessions end with the process.
    pub(crate) forgetful: bool,
}

/// What a refused client is told.
#[derive(Debug, Clone)]
pub(crate) struct Reject {
    pub(crate) status: StatusCode,
    /// Seconds, from..=to: spread, or those refused together come back together.
    pub(crate) retry_after: (u32, u32),
    pub(crate) body: Bytes,
    pub(crate) content_type: HeaderValue,
    pub(crate) close: Close,
}

/// Whose connection is closed after a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Close {
    /// Clients without a session: most likely they were turned away for longer.
    New,
    /// Everybody's.
    Always,
    /// Nobody's.
    Never,
}

/// What clients may cost.
#[derive(Debug, Clone)]
pub(crate) struct Clients {
    /// Most connections at once; `None` follows the descriptor limit.
    pub(crate) connections: Option<u32>,
    /// Memory of the process that counts as all of it.
    pub(crate) memory: Option<u64>,
    pub(crate) header_timeout: Duration,
    pub(crate) idle_timeout: Duration,
    /// For a client that takes nothing of its response or sends nothing of its request.
    pub(crate) stall_timeout: Duration,
    /// For everybody to finish when the gate is told to stop.
    pub(crate) drain_timeout: Duration,
}

impl Settings {
    /// The defaults: classes `premium` and `basic`, and no rule that makes anybody premium.
    ///
    /// # Errors
    /// When `upstream` is not `host:port` or `http://host:port`.
    pub fn new(listen: SocketAddr, upstream: &str) -> Result<Self, Error> {
        Ok(Self::with(listen, Upstream::new(host_and_port(upstream)?)))
    }

    fn with(listen: SocketAddr, upstream: Upstream) -> Self {
        Self {
            listen,
            admin: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            backlog: 4096,
            policy: policy::Config::default(),
            classes: vec!["premium".to_owned(), "basic".to_owned()],
            rules: Rules::default(),
            upstream,
            session: Sessions::default(),
            reject: Reject::default(),
            client: Clients::default(),
        }
    }

    /// Reads a configuration file.
    ///
    /// # Errors
    /// The first thing that is wrong with it, with its line and how to mend it.
    pub fn read(path: &Path) -> Result<Self, config::Error> {
        let directory = path.parent().unwrap_or(Path::new("."));
        Self::from_source(&config::Source::read(path)?, directory)
    }

    /// Reads a configuration from text; files that it names are looked for in `directory`.
    ///
    /// # Errors
    /// As [`Settings::read`].
    pub fn from_source(source: &config::Source, directory: &Path) -> Result<Self, config::Error> {
        resolve::resolve(source, directory)
    }

    /// What the policy is told: for whoever drives it without a gate, as the simulator does.
    pub fn policy(&self) -> &policy::Config {
        &self.policy
    }

    /// How long session tokens hold.
    pub fn session_limits(&self) -> SessionLimits {
        self.session.limits
    }

    /// The class that the rules give a request without a session, from `address`.
    pub fn class_of(&self, request: &http::Request<()>, address: IpAddr) -> ClassId {
        let (method, uri, headers) = (request.method(), request.uri(), request.headers());
        let last = ClassId(u8::try_from(self.classes.len().saturating_sub(1)).unwrap_or(u8::MAX));
        self.rules.classify(Subject { method, uri, headers, address }).unwrap_or(last)
    }

    /// The same, listening elsewhere.
    #[must_use]
    pub fn listening(self, listen: SocketAddr) -> Self {
        Self { listen, ..self }
    }

    /// The same, with the admin interface elsewhere.
    #[must_use]
    pub fn administered(self, admin: SocketAddr) -> Self {
        Self { admin, ..self }
    }

    /// The same, in front of another server.
    ///
    /// # Errors
    /// When `upstream` is not `host:port` or `http://host:port`.
    pub fn in_front_of(mut self, upstream: &str) -> Result<Self, Error> {
        self.upstream.address = host_and_port(upstream)?;
        Ok(self)
    }
}

/// The server's host and port, which may be given as people copy it: `http://host:port/`.
fn host_and_port(text: &str) -> Result<String, Error> {
    let wrong = |why, mend| Error::Address { address: text.to_owned(), why, mend };
    if text.starts_with("https:") {
        return Err(wrong("asks for TLS, which the gate does not speak", "give a plain http port"));
    }
    let plain = without_scheme(text);
    let port = plain.rsplit_once(':').and_then(|(host, port)| {
        let port = port.parse::<u16>().ok().filter(|port| *port > 0)?;
        (!host.is_empty() && !host.contains('/')).then_some(port)
    });
    match port {
        Some(_) => Ok(plain.to_owned()),
        None => Err(wrong("is not a server's address", "give host and port, for example \"127.0.0.1:8000\"")),
    }
}

fn without_scheme(text: &str) -> &str {
    let text = text.strip_prefix("http://").unwrap_or(text);
    text.strip_suffix('/').unwrap_or(text)
}

impl Upstream {
    fn new(address: String) -> Self {
        Self {
            address,
            connect_timeout: Duration::from_secs(2),
            timeout: Duration::from_secs(60),
            idle_timeout: Duration::from_secs(1),
        }
    }
}

impl Default for Sessions {
    fn default() -> Self {
        Self {
            cookie: "headworks".to_owned(),
            secure: false,
            limits: SessionLimits::default(),
            keys: Vec::new(),
            forgetful: true,
        }
    }
}

impl Default for Reject {
    fn default() -> Self {
        const PAGE: &str = "<!doctype html><html lang=\"en\"><title>Busy</title>\
            <h1>We are busy</h1><p>More visitors than we can serve just now. Please try again in a few seconds.\n";
        Self {
            status: StatusCode::SERVICE_UNAVAILABLE,
            retry_after: (5, 15),
            body: Bytes::from_static(PAGE.as_bytes()),
            content_type: HeaderValue::from_static("text/html; charset=utf-8"),
            close: Close::New,
        }
    }
}

impl Default for Clients {
    fn default() -> Self {
        Self {
            connections: None,
            memory: None,
            header_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(15),
            stall_timeout: Duration::from_secs(30),
            drain_timeout: Duration::from_secs(10),
        }
    }
}
