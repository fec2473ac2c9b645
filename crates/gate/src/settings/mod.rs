//! [`Settings`]: everything the gate can be told, its defaults, and reading it from a file.
//!
//! `file` is the file as it is written, `resolve` makes settings of it or says what is wrong,
//! `describe` shows what every default came to, `change` what a later file changes.

pub(crate) mod admin;
pub(crate) mod change;
pub(crate) mod describe;
pub(crate) mod explain;
pub(crate) mod file;
pub(crate) mod front;
pub(crate) mod operation;
pub(crate) mod pattern;
pub(crate) mod reject;
pub(crate) mod resolve;
pub(crate) mod schema;
pub(crate) mod secret;
pub(crate) mod strictness;
pub(crate) mod telemetry;
pub(crate) mod tunnels;
pub(crate) mod upstream;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::time::Duration;

use http1::headers::forwarded::Forwarding;
use http1::request::Limits;
use policy::SessionLimits;
use units::ClassId;

use crate::dispatch::debug_headers::Explain;
use crate::process::error::Error;
use crate::rules::Rules;
use crate::rules::subject::Subject;
use crate::session::token::Key;

use crate::settings::admin::Admission;
use crate::settings::operation::Operation;
use crate::settings::telemetry::Telemetry;
use crate::settings::tunnels::Tunnels;
use crate::settings::upstream::{Server, Upstream};

use crate::settings::front::{Http2, Listener};
use crate::settings::reject::Reject;

/// Everything the gate can be told. Made by [`Settings::new`] or [`Settings::read`].
#[derive(Debug, Clone)]
pub struct Settings {
    pub(crate) listeners: Vec<Listener>,
    pub(crate) http2: Http2,
    pub(crate) forwarding: Forwarding,
    pub(crate) admin: SocketAddr,
    pub(crate) admission: Admission,
    pub(crate) backlog: u32,
    pub(crate) policy: policy::Config,
    pub(crate) classes: Vec<String>,
    pub(crate) rules: Rules,
    pub(crate) upstream: Upstream,
    pub(crate) session: Sessions,
    pub(crate) reject: Reject,
    pub(crate) explain: Explain,
    pub(crate) client: Clients,
    pub(crate) operation: Operation,
    pub(crate) telemetry: Telemetry,
    pub(crate) strictness: Limits,
    pub(crate) tunnels: Tunnels,
}

/// Session cookies.
#[derive(Debug, Clone)]
pub(crate) struct Sessions {
    pub(crate) cookie: String,
    /// Whether it is for TLS only; `None` follows the client's connection.
    pub(crate) secure: Option<bool>,
    pub(crate) limits: SessionLimits,
    /// The first seals, all open.
    pub(crate) keys: Vec<Key>,
    /// Whether nobody gave a secret, so that sessions end with the process.
    pub(crate) forgetful: bool,
}

/// What clients may cost.
#[derive(Debug, Clone)]
pub(crate) struct Clients {
    /// Most connections at once; `None` follows the descriptor limit.
    pub(crate) connections: Option<u32>,
    /// Most streams of HTTP/2 at once, of all connections.
    pub(crate) streams: u32,
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
    /// When `upstream` is not `host:port`, `http://host:port` or `https://host:port`.
    pub fn new(listen: SocketAddr, upstream: &str) -> Result<Self, Error> {
        Ok(Self::with(vec![Listener::plain(listen)], Upstream::of(Server::parse(upstream)?)))
    }

    fn with(listeners: Vec<Listener>, upstream: Upstream) -> Self {
        Self {
            listeners,
            http2: Http2::default(),
            forwarding: Forwarding::default(),
            admin: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            admission: Admission::default(),
            explain: Explain::default(),
            backlog: 4096,
            policy: policy::Config::default(),
            classes: vec!["premium".to_owned(), "basic".to_owned()],
            rules: Rules::default(),
            upstream,
            session: Sessions::default(),
            reject: Reject::default(),
            client: Clients::default(),
            operation: Operation::default(),
            telemetry: Telemetry::default(),
            strictness: Limits::default(),
            tunnels: Tunnels::default(),
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

    /// What the policy's classes are called, in its order.
    pub fn class_names(&self) -> &[String] {
        &self.classes
    }

    /// The class that the rules give a request without a session, from `address`.
    pub fn class_of(&self, request: &http::Request<()>, address: IpAddr) -> ClassId {
        let (method, uri, headers) = (request.method(), request.uri(), request.headers());
        let last = ClassId(u8::try_from(self.classes.len().saturating_sub(1)).unwrap_or(u8::MAX));
        let subject = Subject { method, uri, headers, address, server_name: None, session: None };
        self.rules.find(subject).map_or(last, |(_, class)| class)
    }

    /// The same, with `listen` elsewhere, or besides the other listeners.
    #[must_use]
    pub fn listening(mut self, listen: SocketAddr) -> Self {
        self.listeners.retain(|listener| listener.name != Listener::PLAIN);
        self.listeners.insert(0, Listener::plain(listen));
        self
    }

    /// The same, with the admin interface elsewhere.
    #[must_use]
    pub fn administered(self, admin: SocketAddr) -> Self {
        Self { admin, ..self }
    }

    /// The same, in front of another server.
    ///
    /// # Errors
    /// When `upstream` is not `host:port`, `http://host:port` or `https://host:port`.
    pub fn in_front_of(mut self, upstream: &str) -> Result<Self, Error> {
        let Upstream { servers, authorities, .. } = Upstream::of(Server::parse(upstream)?);
        self.upstream.servers = servers;
        self.upstream.authorities = self.upstream.authorities.or(authorities);
        Ok(self)
    }
}

fn without_scheme(text: &str) -> &str {
    let text = text.strip_prefix("http://").unwrap_or(text);
    text.strip_suffix('/').unwrap_or(text)
}

impl Default for Sessions {
    fn default() -> Self {
        Self {
            cookie: "headworks".to_owned(),
            secure: None,
            limits: SessionLimits::default(),
            keys: Vec::new(),
            forgetful: true,
        }
    }
}

impl Default for Clients {
    fn default() -> Self {
        Self {
            connections: None,
            streams: 16_384,
            memory: None,
            header_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(15),
            stall_timeout: Duration::from_secs(30),
            drain_timeout: Duration::from_secs(10),
        }
    }
}
