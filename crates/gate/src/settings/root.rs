//! [`Settings`]: everything a gate can be told, and its defaults.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use config::Place;
use http1::headers::forwarded::Forwarding;
use http1::request::Limits;
use policy::SessionLimits;
use units::ClassId;

use crate::rules::Rules;
use crate::rules::subject::Subject;
use crate::settings::client::Clients;
use crate::settings::explain::Explain;
use crate::settings::session::Sessions;

use crate::settings::admin::Admission;
use crate::settings::operation::Operation;
use crate::settings::telemetry::Telemetry;
use crate::settings::tunnels::Tunnels;
use crate::settings::upstream::{AddressError, Server, Upstream};

use crate::settings::http2::Http2;
use crate::settings::listener::Listener;
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

impl Settings {
    /// The defaults: classes `premium` and `basic`, and no rule that makes anybody premium.
    ///
    /// # Errors
    /// When `upstream` is not `host:port`, `http://host:port` or `https://host:port`.
    pub fn new(listen: SocketAddr, upstream: &str) -> Result<Self, AddressError> {
        Ok(Self::with(
            vec![Listener::plain(listen)],
            Upstream::of(Place::outside("--upstream"), Server::parse(upstream)?),
        ))
    }

    pub(super) fn with(listeners: Vec<Listener>, upstream: Upstream) -> Self {
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
    pub fn in_front_of(mut self, upstream: &str) -> Result<Self, AddressError> {
        self.upstream.servers = vec![Server::parse(upstream)?];
        self.upstream.place = Place::outside("--upstream");
        Ok(self)
    }
}
