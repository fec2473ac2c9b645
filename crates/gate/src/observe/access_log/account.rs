//! [`Account`]: the [`Entry`] of a request that is on its way, handed in when it is over.

use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;

use http::request::Parts;
use http::{HeaderMap, StatusCode};
use units::SessionId;

use crate::admission::decision::DecisionDetails;
use crate::observe::access_log::entry::{Entry, Visitor};
use crate::observe::access_log::log::AccessLog;
use crate::runtime::clock::Clock;
use crate::upstream::body::Progress;
use crate::upstream::failure::Failure;
use gate_config::settings::telemetry::Telemetry;

/// The account of a request that is on its way; dropping it hands it in. Where there
/// is neither a log nor a collector it is empty and costs nothing.
#[derive(Debug, Default)]
pub(crate) struct Account(Option<Box<Open>>);

#[derive(Debug)]
struct Open {
    entry: Entry,
    body: Option<Progress>,
    access_log: Rc<AccessLog>,
    clock: Rc<Clock>,
}

impl Account {
    /// The account of a request that begins.
    pub(crate) fn begin(
        access_log: &Rc<AccessLog>,
        clock: &Rc<Clock>,
        head: &Parts,
        client: IpAddr,
        telemetry: &Telemetry,
    ) -> Self {
        let open = |entry| {
            Box::new(Open { entry, body: None, access_log: Rc::clone(access_log), clock: Rc::clone(clock) })
        };
        Self(access_log.begin(head, client, telemetry).map(open))
    }

    /// The policy is asked about the request. `body` counts what its client sends; `session` is the
    /// one it belongs to.
    pub(crate) fn arrived(&mut self, body: Progress, session: Option<SessionId>) {
        if let Some(open) = &mut self.0 {
            open.entry.times.arrive(open.clock.read());
            open.entry.session = session.map(|id| Visitor { id, known: true });
            open.body = Some(body);
        }
    }

    /// A session begins with it.
    pub(crate) fn begins(&mut self, id: SessionId) {
        if let Some(open) = &mut self.0 {
            open.entry.session = Some(Visitor { id, known: false });
        }
    }

    /// The policy has decided.
    pub(crate) fn decided(&mut self, details: DecisionDetails) {
        if let Some(open) = &mut self.0 {
            open.entry.times.decide(open.clock.read());
            open.entry.details = Some(details);
        }
    }

    /// The upstream has answered, or has not.
    pub(crate) fn answered(&mut self, failure: Option<&Failure>) {
        if let Some(open) = &mut self.0 {
            open.entry.times.answered = open.clock.read();
            open.entry.failure = failure.map(Failure::name);
        }
    }

    /// The request goes to the upstream with these headers.
    pub(crate) fn pass_on(&self, headers: &mut HeaderMap) {
        if let Some(trace) = self.0.as_ref().and_then(|open| open.entry.trace) {
            trace.pass_on(headers);
        }
    }

    /// The request is malformed.
    pub(crate) fn malformed(&mut self, why: &'static str) {
        if let Some(open) = &mut self.0 {
            open.entry.malformed = Some(why);
        }
    }

    /// The gate ends the request before its response has gone, for this reason.
    pub(crate) fn cut(&mut self, why: &'static str) {
        if let Some(open) = self.0.as_mut().filter(|open| !open.entry.complete) {
            open.entry.cut = Some(why);
        }
    }

    /// The server that was asked, if one was.
    pub(crate) fn asked(&mut self, server: Option<SocketAddr>) {
        if let Some(open) = &mut self.0 {
            open.entry.upstream = server;
        }
    }

    /// The server breaks its response off.
    pub(crate) fn broken_off(&mut self) {
        if let Some(open) = &mut self.0 {
            open.entry.failure = Some(Failure::CutShort.name());
        }
    }

    /// The client is answered with this status.
    pub(crate) fn status(&mut self, status: StatusCode) {
        if let Some(open) = &mut self.0 {
            open.entry.status = Some(status);
        }
    }

    /// So many bytes more of the response's body went out.
    pub(crate) fn sent(&mut self, bytes: usize) {
        if let Some(open) = &mut self.0 {
            open.entry.bytes_out += bytes as u64;
        }
    }

    /// The response went out to its end.
    pub(crate) fn complete(&mut self) {
        if let Some(open) = &mut self.0 {
            open.entry.complete = true;
        }
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        let Some(open) = self.0.take() else { return };
        let Open { mut entry, body, access_log, clock } = *open;
        entry.times.ended = clock.read();
        entry.bytes_in = body.map_or(0, |body| body.bytes());
        access_log.add(entry);
    }
}
