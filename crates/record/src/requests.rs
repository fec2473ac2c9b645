//! `requests.parquet`: one row per request.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use units::{Span, Time};

use crate::table::{named_cell, table};

table! {
    /// A request and where its time went.
    ///
    /// The phases follow one another without a gap, so that a request ended at `started` +
    /// `dns_ns` + `connect_ns` + `tls_ns` + `sending_ns` + `processing_ns` + `transfer_ns`, and `queued_ns` more after
    /// `intended`. A phase that a
    /// timeout or an error cut off has the time it had lasted by then; one that was not reached
    /// is null. Phases after Shin, Koh and Won, "Measurement and Analysis of Web
    /// Server Response Time", section II.
    #[derive(Debug, Clone, PartialEq)]
    pub struct RequestRow {
        /// When the schedule wanted it; open-loop latency counts from here. In a closed loop the
        /// same as `started`. From the start of the run.
        pub intended: Time,
        /// When work on it began: connecting, or writing it to a connection that was open. Of one that the server
        /// turned away, or whose connection closed under it, the last time.
        pub started: Time,
        /// From `intended` to `started`: it waited for one of the connections or streams that there may be, for the
        /// generator, or for its turn to be sent again. Null in records of before there was this column.
        pub queued_ns: Option<Span>,
        /// Name look-up; 0 where the address was known.
        pub dns_ns: Span,
        /// From SYN to established; 0 on a connection that was open.
        pub connect_ns: Span,
        /// TLS handshake; 0 without TLS.
        pub tls_ns: Span,
        /// From the first byte of a request that has a body to the last that is on its way: the server's kernel has
        /// said that it is there (HTTP/1), or the server has allowed it to be sent (HTTP/2). Null without a body.
        pub sending_ns: Option<Span>,
        /// From the request written to the first byte of the final response.
        pub processing_ns: Option<Span>,
        /// From the first byte of the final response to the last.
        pub transfer_ns: Option<Span>,
        /// From the request written to the first byte of the first interim response (RFC 9110, section 15.2), a part of
        /// `processing_ns`; null where there was none.
        pub first_interim_ns: Option<Span>,
        /// Bytes of response body that arrived.
        pub bytes: u64,
        /// HTTP status; null when no response head arrived.
        pub status: Option<u16>,
        /// Why there is no complete response; null when there is one.
        pub error: Option<RequestError>,
        /// What exactly went wrong, in words; null where nothing did.
        pub detail: Option<Arc<str>>,
        /// The class that the client belongs to.
        pub class: Arc<str>,
        /// The session, numbered in the order in which they started; null outside of sessions.
        pub session: Option<u64>,
        /// The connection, numbered in the order in which they were begun.
        pub connection: u64,
        /// Whether the connection had carried a request before.
        pub reused: bool,
        /// SYNs sent again before the connection stood; 0 on a connection that was open.
        pub syn_retransmits: u32,
        /// What was asked for: the URL as the workload has it.
        pub url_class: Arc<str>,
        /// The method. Null in records of before there was this column.
        pub method: Option<Arc<str>>,
        /// What the server itself says that the request took, from the `dur` of its Server-Timing
        /// header (W3C, "Server Timing"); null when it says nothing. Part of `processing_ns`
        /// where the server writes the header after its work.
        pub server_ns: Option<Span>,
    }
}

table! {
    /// What was asked for, and when: two columns of [`RequestRow`], read without the others.
    #[derive(Debug, Clone, PartialEq)]
    pub struct RequestedUrl {
        /// See [`RequestRow::intended`].
        pub intended: Time,
        /// See [`RequestRow::url_class`].
        pub url_class: Arc<str>,
    }
}

impl RequestRow {
    /// When it ended: the last byte, the error, or the timeout.
    pub fn ended(&self) -> Time {
        self.started
            + self.dns_ns
            + self.connect_ns
            + self.tls_ns
            + self.sending_ns.unwrap_or_default()
            + self.processing_ns.unwrap_or_default()
            + self.transfer_ns.unwrap_or_default()
    }

    /// Whether there was a connection to send it on.
    pub fn is_connected(&self) -> bool {
        self.sending_ns.is_some() || self.processing_ns.is_some()
    }

    /// What the client waited: from `intended` to the end.
    pub fn latency(&self) -> Span {
        self.ended().since(self.intended)
    }
}

/// Why a request has no complete response. A status such as 503 is a response, not an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum RequestError {
    /// No connection: refused, unreachable, or no descriptor or port left.
    Connect,
    /// The time allowed for a request ran out.
    Timeout,
    /// The connection was closed or reset before the response was complete.
    Reset,
    /// What came was not HTTP.
    Protocol,
    /// The body was not what was asked for: it ended early, or has another length.
    Body,
    /// The run ended before the response did. Neither client nor server failed: not counted as an error.
    Censored,
}

impl RequestError {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Connect, Self::Timeout, Self::Reset, Self::Protocol, Self::Body, Self::Censored];

    /// Its name in files and summaries.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Connect => "connect",
            Self::Timeout => "timeout",
            Self::Reset => "reset",
            Self::Protocol => "protocol",
            Self::Body => "body",
            Self::Censored => "censored",
        }
    }
}

named_cell!(RequestError);
