//! [`Finished`]: all that is known of a request that is over.

use std::sync::Arc;

use record::{RequestError, RequestRow};
use units::{Span, Time};

/// What the numbers of objects and classes stand for in the record.
#[derive(Debug)]
pub(crate) struct Names {
    pub(crate) objects: Vec<Arc<str>>,
    pub(crate) classes: Vec<Arc<str>>,
}

/// A request that is over, in numbers; names are put to them only for the record.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Finished {
    pub(crate) intended: Time,
    pub(crate) started: Time,
    pub(crate) dns: Span,
    pub(crate) connect: Span,
    pub(crate) tls: Span,
    pub(crate) processing: Option<Span>,
    pub(crate) transfer: Option<Span>,
    pub(crate) bytes: u64,
    pub(crate) status: Option<u16>,
    pub(crate) error: Option<RequestError>,
    /// Number of its class in the plan.
    pub(crate) class: usize,
    /// Number of what was asked for in the plan.
    pub(crate) object: u32,
    pub(crate) session: Option<u64>,
    pub(crate) connection: u64,
    pub(crate) reused: bool,
    pub(crate) syn_retransmits: u32,
    /// What the server itself says that it took.
    pub(crate) server: Option<Span>,
}

impl Finished {
    pub(crate) fn ended(&self) -> Time {
        self.started
            + self.dns
            + self.connect
            + self.tls
            + self.processing.unwrap_or_default()
            + self.transfer.unwrap_or_default()
    }

    /// What the client waited: from `intended` to the end.
    pub(crate) fn latency(&self) -> Span {
        self.ended().since(self.intended)
    }

    pub(crate) fn row(&self, names: &Names) -> RequestRow {
        let url = names.objects.get(self.object as usize).map(Arc::clone);
        let class = names.classes.get(self.class).map(Arc::clone);
        RequestRow {
            intended: self.intended,
            started: self.started,
            dns_ns: self.dns,
            connect_ns: self.connect,
            tls_ns: self.tls,
            processing_ns: self.processing,
            transfer_ns: self.transfer,
            bytes: self.bytes,
            status: self.status,
            error: self.error,
            class: class.unwrap_or_default(),
            session: self.session,
            connection: self.connection,
            reused: self.reused,
            syn_retransmits: self.syn_retransmits,
            url_class: url.unwrap_or_default(),
            server_ns: self.server,
        }
    }
}
