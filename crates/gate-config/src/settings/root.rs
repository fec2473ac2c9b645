//! [`Settings`]: everything a gate can be told, and its defaults.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use config::Place;
use http1::headers::forwarded::Forwarding;
use http1::request::Limits;
use policy::SessionLimits;
use policy::connections::ConnectionLimits;
use units::ClassId;

use crate::rules::all::Rules;
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
use crate::settings::pages::Pages;
use crate::settings::reject::Reject;
use crate::settings::waiting_room::WaitingRoom;

/// Everything the gate can be told. Made by [`Settings::new`] or [`Settings::read`].
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where clients connect; at least one.
    pub listeners: Vec<Listener>,
    /// HTTP/2 with clients.
    pub http2: Http2,
    /// What is said, and believed, of whom a request is for.
    pub forwarding: Forwarding,
    /// Where the admin interface listens.
    pub admin: SocketAddr,
    /// To whom the admin interface answers.
    pub admission: Admission,
    /// Connections that the kernel keeps until they are accepted.
    pub backlog: u32,
    /// What the policy is told.
    pub policy: policy::Config,
    /// Names of the classes, most important first.
    pub classes: Vec<String>,
    /// Which class a request is of, and what raises a session.
    pub rules: Rules,
    /// The servers behind the gate; none where it is attached to one.
    pub upstream: Upstream,
    /// Where processes of the server connect that the gate is attached to, instead of being in front of one.
    pub attach: Option<PathBuf>,
    /// Session cookies.
    pub session: Sessions,
    /// What a refused client is told.
    pub reject: Reject,
    /// What visitors are shown who have to wait; without it they have no place.
    pub waiting_room: Option<WaitingRoom>,
    /// What clients are shown instead of the gate's own words.
    pub pages: Pages,
    /// To whom headers say what was decided.
    pub explain: Explain,
    /// What clients may cost.
    pub client: Clients,
    /// How the gate runs as a service.
    pub operation: Operation,
    /// Traces and metrics for OpenTelemetry.
    pub telemetry: Telemetry,
    /// How much of what a request may have.
    pub strictness: Limits,
    /// Connections on which another protocol is spoken.
    pub tunnels: Tunnels,
}

impl Settings {
    /// The defaults: classes `premium` and `basic`, and no rule that makes anybody premium.
    ///
    /// # Errors
    /// When `upstream` is not `host:port`, `http://host:port` or `https://host:port`.
    pub fn new(listen: SocketAddr, upstream: &str) -> Result<Self, AddressError> {
        Ok(Self::with(
            vec![Listener::plain(listen, Place::outside("--listen"))],
            Upstream::of(Server::parse(upstream)?),
        ))
    }

    /// The defaults of a gate that is attached to a server.
    #[must_use]
    pub fn attached() -> Self {
        let settings = Self::with(Vec::new(), Upstream::none());
        settings.attached_at(Path::new("/run/headworks/attach.sock"))
    }

    /// These settings with the socket for the server's processes elsewhere.
    #[must_use]
    pub fn attached_at(mut self, socket: &Path) -> Self {
        self.attach = Some(socket.to_owned());
        self
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
            attach: None,
            session: Sessions::default(),
            reject: Reject::default(),
            waiting_room: None,
            pages: Pages::default(),
            client: Clients::default(),
            operation: Operation::default(),
            telemetry: Telemetry::default(),
            strictness: Limits::default(),
            tunnels: Tunnels::default(),
        }
    }

    /// What the policy is told: for programs that drive it without a gate, as the simulator does.
    pub fn policy(&self) -> &policy::Config {
        &self.policy
    }

    /// What connections may use, as far as it does not follow from the limits of a process.
    pub fn connection_limits(&self) -> ConnectionLimits {
        self.client.limits(u64::MAX, self.upstream.timeout)
    }

    /// How many connections may wait in the kernel to be accepted.
    pub fn backlog(&self) -> u32 {
        self.backlog
    }

    /// How long session tokens hold.
    pub fn session_limits(&self) -> SessionLimits {
        self.session.limits
    }

    /// What the policy's classes are called, in its order.
    pub fn class_names(&self) -> &[String] {
        &self.classes
    }

    /// Whether there is anything that sessions tell apart: with one class, no rule and no waiting room there is not.
    pub fn has_sessions(&self) -> bool {
        let has_rules = !self.rules.choose.is_empty() || self.rules.can_change();
        self.classes.len() > 1 || has_rules || self.waiting_room.is_some()
    }

    /// The class that the rules give a request without a session, from `address`.
    pub fn class_of(&self, request: &http::Request<()>, address: IpAddr) -> ClassId {
        let (method, uri, headers) = (request.method(), request.uri(), request.headers());
        let last = ClassId(u8::try_from(self.classes.len().saturating_sub(1)).unwrap_or(u8::MAX));
        let subject = Subject { method, uri, headers, address, server_name: None, session: None };
        self.rules.find(subject).map_or(last, |(_, class)| class)
    }

    /// These settings with `listen` elsewhere, or besides the other listeners.
    #[must_use]
    pub fn listening(mut self, listen: SocketAddr) -> Self {
        self.listeners.retain(|listener| listener.name != Listener::PLAIN);
        self.listeners.insert(0, Listener::plain(listen, Place::outside("--listen")));
        self
    }

    /// These settings with the admin interface elsewhere.
    #[must_use]
    pub fn administered(mut self, admin: SocketAddr) -> Self {
        self.admin = admin;
        self.admission.written = Place::outside("--admin");
        self
    }

    /// These settings in front of another server.
    ///
    /// # Errors
    /// When `upstream` is not `host:port`, `http://host:port` or `https://host:port`.
    pub fn in_front_of(mut self, upstream: &str) -> Result<Self, AddressError> {
        self.upstream.servers = vec![Server::parse(upstream)?];
        Ok(self)
    }
}
