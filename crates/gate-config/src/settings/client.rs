//! `[client]` and a part of `[limits]`: what clients may cost.

use std::time::Duration;

use config::{Error, Quantity, Source, Spanned};
use policy::connections::ConnectionLimits;
use units::Bytes;

use crate::settings::field_names::FieldNames;
use crate::settings::file::File;
use crate::settings::number::{at_least_one, set, set_above_zero};

/// What clients may cost.
#[derive(Debug, Clone)]
pub struct Clients {
    /// Most connections at once; `None` follows the descriptor limit.
    pub connections: Option<u32>,
    /// Most streams of HTTP/2 at once, of all connections.
    pub streams: u32,
    /// Memory of the process that counts as all of it.
    pub memory: Option<u64>,
    /// For the head of a request.
    pub header_timeout: Duration,
    /// Between two requests, and before the first.
    pub idle_timeout: Duration,
    /// For a client that takes nothing of its response or sends nothing of its request.
    pub stall_timeout: Duration,
    /// How field names are written in responses over HTTP/1.
    pub field_names: FieldNames,
    /// For everybody to finish when the gate is told to stop.
    pub drain_timeout: Duration,
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
            field_names: FieldNames::default(),
            drain_timeout: Duration::from_secs(10),
        }
    }
}

/// Descriptors left to what is not a client's or the upstream's connection: the listeners, the
/// admin interface, files.
const RESERVED_DESCRIPTORS: u64 = 64;
/// What may go on without a place in the server, as a share of the connections. Each has one of its client and one to a
/// server, so they take three quarters at most; from four fifths on new sessions would be refused.
pub const STREAMING: f64 = 0.375;
/// The same of tunnels: half of all connections are left to requests.
pub const TUNNELS: f64 = 0.25;

/// More connections than this need a setting of their own: each costs some memory.
const DEFAULT_MAX_CONNECTIONS: u64 = 65_536;

impl Clients {
    /// The limits of connections in a process that may have so many descriptors, in front of servers that
    /// may take so long to go on with a response.
    pub fn limits(&self, descriptors: u64, answer_timeout: Duration) -> ConnectionLimits {
        let possible = descriptors.saturating_sub(RESERVED_DESCRIPTORS).max(1);
        let connections = self.connections.map_or(DEFAULT_MAX_CONNECTIONS, u64::from).min(possible);
        ConnectionLimits {
            connections: usize::try_from(connections).unwrap_or(usize::MAX),
            streams: self.streams as usize,
            memory: self.memory,
            header_timeout: self.header_timeout.into(),
            idle_timeout: self.idle_timeout.into(),
            stall_timeout: self.stall_timeout.into(),
            answer_timeout: answer_timeout.into(),
        }
    }
}

fn memory(source: &Source, memory: &Spanned<Quantity<Bytes>>) -> Result<u64, Error> {
    /// Less than the gate takes without a client, so that it would refuse everybody.
    const MIN_BYTES: u64 = 16 << 20;
    match memory.get_ref().0.0 {
        bytes if bytes < MIN_BYTES => Err(source
            .error(memory.span(), format!("in {bytes} bytes of memory nobody could be served"))
            .mend("give at least \"16MiB\", or leave it out")),
        bytes => Ok(bytes),
    }
}

pub(super) fn resolve(source: &Source, file: &File, client: &mut Clients) -> Result<(), Error> {
    if let Some(connections) = &file.limits.connections {
        client.connections = Some(at_least_one(source, connections, "connections")?);
    }
    if let Some(streams) = &file.limits.streams {
        client.streams = at_least_one(source, streams, "streams")?;
    }
    client.memory = file.limits.memory.as_ref().map(|memory| self::memory(source, memory)).transpose()?;
    let timeouts = &file.client;
    set_above_zero(source, &mut client.header_timeout, &timeouts.header_timeout, "header-timeout")?;
    set_above_zero(source, &mut client.idle_timeout, &timeouts.idle_timeout, "idle-timeout")?;
    set_above_zero(source, &mut client.stall_timeout, &timeouts.stall_timeout, "stall-timeout")?;
    client.field_names = timeouts.field_names.unwrap_or_default();
    set(&mut client.drain_timeout, file.client.drain_timeout);
    Ok(())
}
