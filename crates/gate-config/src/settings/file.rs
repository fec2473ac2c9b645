//! The configuration file as people write it.

use std::collections::BTreeMap;
use std::fmt;

use config::{Quantity, Spanned, quantity};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, Visitor};
use units::{Bytes, Ratio, Span};

use crate::settings::field_names::FieldNames;
use crate::settings::forwarding::Style;
use crate::settings::http2::Http2Table;
use crate::settings::listener::ListenerTable;
use crate::settings::number::Time;
use crate::settings::status::StatusFile;
use crate::settings::strictness::StrictnessFile;
use crate::settings::telemetry::TelemetryFile;
use crate::settings::text::{TextOr, Texts};
use crate::settings::tunnels::TunnelsFile;
use crate::settings::upstream::UpstreamFile;
use crate::settings::waiting_room::WaitingRoomFile;
use crate::settings::{admin, operation, reject};

/// The whole file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct File {
    /// Where clients connect without TLS: an address and a port.
    pub(super) listen: Option<Spanned<String>>,
    /// Further listeners, with or without TLS.
    #[serde(default)]
    pub(super) listener: Vec<ListenerTable>,
    /// HTTP/2 with clients.
    #[serde(default)]
    pub(super) http2: Http2Table,
    /// Which headers tell the server for whom a request is.
    pub(super) forwarded: Option<Style>,
    /// Networks whose forwarding headers are believed.
    pub(super) trusted_proxies: Option<Texts>,
    /// Where the admin interface listens, or a table of that and who may use it.
    pub(super) admin: Option<TextOr<admin::File>>,
    /// Connections that the kernel keeps until they are accepted.
    pub(super) backlog: Option<Spanned<u32>>,
    /// The server behind the gate, as host:port, or a table.
    pub(super) upstream: Option<TextOr<UpstreamFile>>,
    /// Whether the gate is under the server instead of in front of it, and takes the server's own listeners.
    pub(super) attach: Option<Spanned<bool>>,
    /// Where processes of that server connect: the path of a socket.
    pub(super) attach_socket: Option<Spanned<String>>,
    /// `shadow` lets everything through and only counts what it would have done.
    #[serde(default)]
    pub(super) mode: Mode,
    /// What is admitted in overload.
    #[serde(default)]
    pub(super) admission: Admission,
    /// 0 all classes alike to 1 strict priority.
    #[serde(default, with = "quantity::optional")]
    #[schemars(with = "Option<config::Quantity<Ratio>>")]
    pub(super) differentiation: Option<Ratio>,
    /// 0 fastest responses to 1 most sessions.
    #[serde(default, with = "quantity::optional")]
    #[schemars(with = "Option<config::Quantity<Ratio>>")]
    pub(super) favour: Option<Ratio>,
    /// Arrivals scanned for important ones before one other is classified: a number or `auto`.
    pub(super) look_ahead: Option<Spanned<TextOr<u32>>>,
    /// How often admission is recomputed.
    pub(super) period: Option<Time>,
    /// Of the admission controllers.
    pub(super) gains: Option<Spanned<Gains>>,
    /// How many requests may be inside the server.
    pub(super) window: Option<Spanned<Window>>,
    /// Of the acceptor queue for one client; with 1 there is no bound.
    #[serde(default, with = "quantity::optional")]
    #[schemars(with = "Option<config::Quantity<Ratio>>")]
    pub(super) client_share: Option<Ratio>,
    /// Of what a class gets, for sessions that begin, however many are under way.
    #[serde(default, with = "quantity::optional")]
    #[schemars(with = "Option<config::Quantity<Ratio>>")]
    pub(super) new_session_share: Option<Ratio>,
    /// To whom headers say what was decided: `off`, `on` or networks.
    pub(super) explain: Option<Texts>,
    /// Classes, most important first.
    pub(super) class: Option<Vec<Class>>,
    /// What class a request is of that begins a session; the first that matches decides.
    #[serde(default)]
    pub(super) rule: Vec<Rule>,
    /// What raises a session that is there.
    #[serde(default)]
    pub(super) raise: Vec<Rule>,
    /// Lengths of queues, connections, memory.
    #[serde(default)]
    pub(super) limits: Limits,
    /// The longest wait in each stage.
    #[serde(default)]
    pub(super) deadlines: Deadlines,
    /// The session cookie.
    #[serde(default)]
    pub(super) session: Session,
    /// What a refused client is told.
    #[serde(default)]
    pub(super) reject: reject::File,
    /// Visitors that are refused keep their place.
    #[serde(default)]
    pub(super) waiting_room: WaitingRoomFile,
    /// Files for what the gate says itself, by status.
    #[serde(default)]
    pub(super) pages: BTreeMap<String, Texts>,
    /// Timeouts of clients.
    #[serde(default)]
    pub(super) client: Client,
    /// Running as a service.
    #[serde(default)]
    pub(super) operation: operation::File,
    /// OpenTelemetry.
    #[serde(default)]
    pub(super) telemetry: TelemetryFile,
    /// What a request may have.
    #[serde(default)]
    pub(super) strictness: StrictnessFile,
    /// WebSocket and other protocols that a connection goes over to.
    #[serde(default)]
    pub(super) tunnels: TunnelsFile,
}

/// What is admitted in overload.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Admission {
    /// As many requests as the queue of their class has room for.
    Requests,
    /// Sessions, where it is known how long they are and most cannot be finished: who is nearest to the end goes first, and
    /// new ones begin at the pace at which they can be finished. Otherwise requests.
    #[default]
    Sessions,
}

#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Mode {
    #[default]
    Enforce,
    Shadow,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Gains {
    pub(super) q0: f64,
    pub(super) q1: f64,
}

/// `8`, `"adaptive"` or bounds.
#[derive(Debug, Clone, Copy)]
pub(super) enum Window {
    Fixed(u32),
    Adaptive,
    Bounds(Bounds),
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Bounds {
    pub(super) min: Option<u32>,
    pub(super) max: Option<u32>,
    pub(super) initial: Option<u32>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Class {
    /// Letters, digits, - and _.
    pub(super) name: Spanned<String>,
    /// Its share beside the others; follows differentiation without it.
    pub(super) weight: Option<Spanned<f64>>,
    /// Length of its queue to aim at; follows favour without it.
    pub(super) target_queue: Option<u32>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Rule {
    /// The class that it gives.
    pub(super) class: Spanned<String>,
    /// The host asked for, without the port; `*` and `?` stand for anything and for one character.
    pub(super) host: Option<Texts>,
    /// A prefix, or a pattern.
    pub(super) path: Option<Texts>,
    /// A parameter of the query by name, or `name=pattern`.
    pub(super) query: Option<Texts>,
    /// A header by name, or `Name: pattern`.
    pub(super) header: Option<Texts>,
    /// A cookie by name, or `name=pattern`.
    pub(super) cookie: Option<Texts>,
    /// Addresses or networks of clients.
    pub(super) address: Option<Texts>,
    /// The name in the TLS handshake.
    pub(super) server_name: Option<Texts>,
    /// In capitals.
    pub(super) method: Option<Texts>,
    /// An expression in CEL.
    pub(super) when: Option<Spanned<String>>,
    /// Of the response, for what raises a session: a number, `"2xx"` or a list.
    pub(super) status: Option<StatusFile>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Limits {
    /// Connections accepted per turn.
    pub(super) burst: Option<Spanned<u32>>,
    /// Requests not yet looked at.
    pub(super) acceptor_queue: Option<Spanned<u32>>,
    /// Each: of existing sessions, of new ones.
    pub(super) pending_queue: Option<Spanned<u32>>,
    /// Of all classes together.
    pub(super) class_queues: Option<Spanned<u32>>,
    /// Requests held back for a second chance.
    pub(super) discard_queues: Option<Spanned<u32>>,
    /// Periods that a request is held back.
    pub(super) discard_periods: Option<u32>,
    /// Requests that the server has and does nothing for: streamed responses, slow uploads.
    pub(super) streaming: Option<Spanned<u32>>,
    /// Of clients and to the servers.
    pub(super) connections: Option<Spanned<u32>>,
    /// Of HTTP/2, of all connections together.
    pub(super) streams: Option<Spanned<u32>>,
    /// Resident; above 80 % of it new sessions are refused.
    pub(super) memory: Option<Spanned<Quantity<Bytes>>>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Deadlines {
    /// In the acceptor queue.
    pub(super) acceptor: Option<Time>,
    /// In a pending queue.
    pub(super) pending: Option<Time>,
    /// Held back.
    pub(super) discard: Option<Time>,
    /// In a class queue.
    pub(super) class: Option<Time>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Session {
    /// Name of the cookie.
    pub(super) cookie: Option<Spanned<String>>,
    /// Tokens of one site are not valid on another with the same secret.
    pub(super) site: Option<String>,
    /// At least 16 bytes; without one, sessions end with the process.
    pub(super) secret: Option<Spanned<String>>,
    /// A file with the secret.
    pub(super) secret_file: Option<Spanned<String>>,
    /// Still accepted.
    pub(super) previous_secret: Option<Spanned<String>>,
    /// A file with it.
    pub(super) previous_secret_file: Option<Spanned<String>>,
    /// A session ends so long after its last request.
    pub(super) idle: Option<Time>,
    /// And so long after its first.
    pub(super) absolute: Option<Time>,
    /// Whether the cookie has `Secure`; follows the connection without it.
    pub(super) secure: Option<bool>,
    /// Paths whose responses begin no session: prefixes or patterns.
    pub(super) except: Option<Texts>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Client {
    /// For a request's head to arrive.
    pub(super) header_timeout: Option<Time>,
    /// Between requests, and before the first.
    pub(super) idle_timeout: Option<Time>,
    /// For a client that takes nothing of its response or sends nothing of its request.
    pub(super) stall_timeout: Option<Time>,
    /// How field names are written in responses over HTTP/1.
    pub(super) field_names: Option<FieldNames>,
    /// For requests in hand when the gate is told to stop.
    #[serde(default, with = "quantity::optional")]
    #[schemars(with = "Option<config::Quantity<Span>>")]
    pub(super) drain_timeout: Option<Span>,
}

impl<'de> Deserialize<'de> for Window {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AnyWindow;
        impl<'de> Visitor<'de> for AnyWindow {
            type Value = Window;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, \"adaptive\", or a table of min, max and initial")
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Window, E> {
                let unexpected = || E::invalid_value(de::Unexpected::Signed(number), &self);
                u32::try_from(number).map(Window::Fixed).map_err(|_| unexpected())
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Window, E> {
                match text {
                    "adaptive" => Ok(Window::Adaptive),
                    _ => Err(E::invalid_value(de::Unexpected::Str(text), &self)),
                }
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Window, A::Error> {
                Bounds::deserialize(de::value::MapAccessDeserializer::new(map)).map(Window::Bounds)
            }
        }
        deserializer.deserialize_any(AnyWindow)
    }
}
