//! `watched.parquet`: one row per request that the monitor followed.

use std::sync::Arc;

use units::{Span, Time};

use crate::table::table;

table! {
    /// A request as the server sees it. Its phases follow one another without a gap (Webmonitor, section 4.2).
    #[derive(Debug, Clone, PartialEq)]
    pub struct WatchedRow {
        /// When its first byte had come and it could have been read, from the start of the run.
        pub began: Time,
        /// The server's port.
        pub port: u16,
        /// The client's port.
        pub client_port: u16,
        /// The class, by the size of the response.
        pub class: Arc<str>,
        /// From when its connection was established to when the server accepted it; null but for the first on its
        /// connection.
        pub accept_wait_ns: Option<Span>,
        /// Until its header had been parsed.
        pub parse_ns: Span,
        /// Until the last of the response had been handed to the kernel.
        pub process_ns: Span,
        /// Until the server was ready for something else.
        pub log_ns: Span,
        /// Processor time in user mode and in the kernel, without interrupts.
        pub cpu_ns: Span,
        /// Asleep until a disk had answered.
        pub disk_wait_ns: Span,
        /// Bytes received.
        pub bytes_received: u64,
        /// Bytes handed to the kernel, header included.
        pub bytes_sent: u64,
    }
}
