//! [`Downstream`]: what all client connections share, and [`Conduct`]: what they may do.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use http1::request::Limits;

use crate::admission::control::AdmissionControl;
use crate::clients::registry::Registry;
use crate::downstream::handshakes::Handshakes;
use crate::downstream::unsent::Unsent;
use crate::observe::access_log::log::AccessLog;
use crate::runtime::clock::Clock;
use crate::strict::strictness::Strictness;
use gate_config::settings::field_names::FieldNames;
use gate_config::settings::http2::Http2;
use gate_config::settings::root::Settings;

/// What all client connections share.
#[derive(Debug)]
pub(crate) struct Downstream {
    pub(crate) clock: Rc<Clock>,
    pub(crate) admission: Rc<AdmissionControl>,
    pub(crate) clients: Rc<Registry>,
    pub(crate) access_log: Rc<AccessLog>,
    pub(crate) strictness: Rc<Strictness>,
    pub(crate) unsent: Rc<Unsent>,
    pub(crate) handshakes: Rc<Handshakes>,
    /// Of connections from now on.
    pub(crate) conduct: Cell<Conduct>,
    pub(crate) accepted: Accepted,
}

/// Connections of a server that the gate is attached to: who has accepted them.
#[derive(Debug, Default)]
pub(crate) struct Accepted {
    gate: Cell<u64>,
    server: Cell<u64>,
}

impl Accepted {
    /// One was accepted by the server itself, and its first request begins without the gate; or by the gate.
    pub(crate) fn count(&self, by_server: bool) {
        let count = if by_server { &self.server } else { &self.gate };
        count.set(count.get() + 1);
    }

    pub(crate) fn counts(&self) -> [(&'static str, u64); 2] {
        [("gate", self.gate.get()), ("server", self.server.get())]
    }
}

/// What a connection may do, as it is configured when it begins.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Conduct {
    pub(crate) limits: Limits,
    pub(crate) http2: Http2,
    pub(crate) field_names: FieldNames,
    /// For a client that takes nothing of its response or sends nothing of its request.
    pub(crate) stall_timeout: Duration,
}

impl Conduct {
    pub(crate) fn of(settings: &Settings) -> Self {
        let (limits, http2) = (settings.strictness, settings.http2);
        let (stall_timeout, field_names) = (settings.client.stall_timeout, settings.client.field_names);
        Self { limits, http2, field_names, stall_timeout }
    }
}

impl Downstream {
    pub(crate) fn new(
        admission: &Rc<AdmissionControl>,
        clients: &Rc<Registry>,
        access_log: &Rc<AccessLog>,
        strictness: &Rc<Strictness>,
        conduct: Conduct,
    ) -> Self {
        Self {
            clock: Rc::clone(&admission.clock),
            admission: Rc::clone(admission),
            clients: Rc::clone(clients),
            access_log: Rc::clone(access_log),
            strictness: Rc::clone(strictness),
            unsent: Rc::new(Unsent::new(&clients.memory)),
            handshakes: Rc::default(),
            conduct: Cell::new(conduct),
            accepted: Accepted::default(),
        }
    }
}
