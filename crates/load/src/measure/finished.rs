//! [`Finished`]: all that is known of a request that is over.

use std::borrow::Cow;
use std::sync::Arc;

use http::Method;
use record::{RequestError, RequestRow};
use units::{Span, Time};

/// What the numbers of objects and classes stand for in the record.
#[derive(Debug)]
pub(crate) struct Names {
    pub(crate) objects: Vec<Arc<str>>,
    /// Of the same objects.
    pub(crate) methods: Vec<Arc<str>>,
    pub(crate) classes: Vec<Arc<str>>,
}

/// A request that is over, in numbers; names are put to them only for the record.
#[derive(Debug, Clone)]
pub(crate) struct Finished {
    pub(crate) intended: Time,
    pub(crate) started: Time,
    pub(crate) dns: Span,
    pub(crate) connect: Span,
    pub(crate) tls: Span,
    pub(crate) sending: Option<Span>,
    pub(crate) processing: Option<Span>,
    pub(crate) transfer: Option<Span>,
    pub(crate) first_interim: Option<Span>,
    pub(crate) bytes: u64,
    pub(crate) status: Option<u16>,
    pub(crate) error: Option<RequestError>,
    /// What exactly went wrong.
    pub(crate) detail: Option<Cow<'static, str>>,
    /// Number of its class in the plan.
    pub(crate) class: usize,
    /// Number of what was asked for in the plan.
    pub(crate) object: u32,
    pub(crate) session: Option<u64>,
    pub(crate) connection: u64,
    pub(crate) reused: bool,
    /// A redirect has led to it: no schedule has asked for it.
    pub(crate) is_hop: bool,
    /// Its method, where that is not the object's.
    pub(crate) method: Option<Method>,
    pub(crate) syn_retransmits: u32,
    /// What the server itself says that it took.
    pub(crate) server: Option<Span>,
}

impl Finished {
    /// What a row of a record says, without names.
    pub(crate) fn of(row: &RequestRow) -> Self {
        Self {
            intended: row.intended,
            started: row.started,
            dns: row.dns_ns,
            connect: row.connect_ns,
            tls: row.tls_ns,
            sending: row.sending_ns,
            processing: row.processing_ns,
            transfer: row.transfer_ns,
            first_interim: row.first_interim_ns,
            bytes: row.bytes,
            status: row.status,
            error: row.error,
            detail: row.detail.as_deref().map(|detail| Cow::Owned(detail.to_owned())),
            class: 0,
            object: 0,
            session: row.session,
            connection: row.connection,
            reused: row.reused,
            is_hop: false,
            method: None,
            syn_retransmits: row.syn_retransmits,
            server: row.server_ns,
        }
    }

    pub(crate) fn ended(&self) -> Time {
        self.started
            + self.dns
            + self.connect
            + self.tls
            + self.sending.unwrap_or_default()
            + self.processing.unwrap_or_default()
            + self.transfer.unwrap_or_default()
    }

    /// How long it waited before work on it began.
    pub(crate) fn queued(&self) -> Span {
        self.started.since(self.intended)
    }

    /// Whether there was a connection to send it on.
    pub(crate) fn is_connected(&self) -> bool {
        self.sending.is_some() || self.processing.is_some()
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
            queued_ns: Some(self.queued()),
            dns_ns: self.dns,
            connect_ns: self.connect,
            tls_ns: self.tls,
            sending_ns: self.sending,
            processing_ns: self.processing,
            transfer_ns: self.transfer,
            first_interim_ns: self.first_interim,
            bytes: self.bytes,
            status: self.status,
            error: self.error,
            detail: self.detail.as_deref().map(Arc::from),
            class: class.unwrap_or_default(),
            session: self.session,
            connection: self.connection,
            reused: self.reused,
            syn_retransmits: self.syn_retransmits,
            url_class: url.unwrap_or_default(),
            method: match &self.method {
                Some(method) => Some(Arc::from(method.as_str())),
                None => names.methods.get(self.object as usize).map(Arc::clone),
            },
            server_ns: self.server,
        }
    }
}
