//! `[http2]`: HTTP/2 with clients.

use std::time::Duration;

use config::{Error, Source, Spanned, quantity};
use schemars::JsonSchema;
use serde::Deserialize;
use units::{Bytes, Span};

use crate::settings::number::at_least_one;

/// `[http2]` as people write it.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Http2Table {
    /// Requests at once on one connection.
    streams: Option<Spanned<u32>>,
    /// Of a request's body.
    #[serde(default, with = "quantity::optional")]
    #[schemars(with = "Option<config::Quantity<Bytes>>")]
    stream_window: Option<Bytes>,
    /// Of the bodies of all requests of a connection.
    #[serde(default, with = "quantity::optional")]
    #[schemars(with = "Option<config::Quantity<Bytes>>")]
    connection_window: Option<Bytes>,
    /// How often a quiet client is asked whether it is there.
    #[serde(default, with = "quantity::optional")]
    #[schemars(with = "Option<config::Quantity<Span>>")]
    ping_interval: Option<Span>,
}

/// Connections of HTTP/2.
#[derive(Debug, Clone, Copy)]
pub struct Http2 {
    /// Requests at once on one connection.
    pub streams: u32,
    /// Bytes of a request's body that may be on their way before the gate asks for more.
    pub stream_window: u32,
    /// The same of all streams of a connection.
    pub connection_window: u32,
    /// How often a client is asked whether it is still there, if at all.
    pub ping_interval: Option<Duration>,
}

impl Default for Http2 {
    fn default() -> Self {
        Self {
            streams: 100,
            stream_window: 256 * 1024,
            connection_window: 1024 * 1024,
            ping_interval: Some(Duration::from_secs(30)),
        }
    }
}

impl Http2 {
    /// One line for `gate check`.
    pub(super) fn describe(&self) -> String {
        let Self { streams, stream_window, connection_window, ping_interval } = self;
        let pings = ping_interval
            .map_or("no pings".to_owned(), |interval| format!("ping every {}", Span::from(interval)));
        format!("{streams} streams, windows of {stream_window} and {connection_window} bytes, {pings}")
    }
}

pub(super) fn resolve(source: &Source, table: &Http2Table) -> Result<Http2, Error> {
    let defaults = Http2::default();
    // RFC 9113 section 6.9.1.
    const MAX_BYTES: u64 = (1 << 31) - 1;
    let window = |given: Option<Bytes>, default: u32| match given {
        Some(Bytes(bytes)) => u32::try_from(bytes.min(MAX_BYTES)).unwrap_or(u32::MAX >> 1),
        None => default,
    };
    let streams = match &table.streams {
        Some(streams) => at_least_one(source, streams, "streams")?,
        None => defaults.streams,
    };
    Ok(Http2 {
        streams,
        stream_window: window(table.stream_window, defaults.stream_window).max(1),
        connection_window: window(table.connection_window, defaults.connection_window).max(65_535),
        ping_interval: match table.ping_interval.map(Duration::from) {
            Some(Duration::ZERO) => None,
            given => given.or(defaults.ping_interval),
        },
    })
}
