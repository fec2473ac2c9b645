//! [`Visit`]: a request's session, in the class that it has by now.

use std::cell::Cell;
use std::net::IpAddr;

use http::request::Parts;
use policy::Session;

use crate::admission::decision::{Basis, Known};
use crate::clients::peer::ServerName;
use crate::dispatch::snapshot::Live;
use crate::process::gate::Gate;
use crate::rules::subject::{Facts, Subject};

/// A request's session.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Visit {
    pub(crate) session: Session,
    /// Whether its cookie must go out.
    pub(crate) write: bool,
    /// Why it is of its class.
    pub(crate) basis: Basis,
}

impl Visit {
    /// What the policy is to know.
    pub(crate) fn known(&self) -> Known {
        Known { class: self.session.class, basis: self.basis }
    }
}

/// How often a session was raised, and by what.
#[derive(Debug, Default)]
pub(crate) struct Raises {
    rule: Cell<u64>,
    back_end: Cell<u64>,
}

impl Raises {
    /// A session has its cookie of a higher class.
    pub(crate) fn count(&self, by_back_end: bool) {
        let count = if by_back_end { &self.back_end } else { &self.rule };
        count.set(count.get() + 1);
    }

    pub(crate) fn counts(&self) -> [(&'static str, u64); 2] {
        [("rule", self.rule.get()), ("back-end", self.back_end.get())]
    }
}

/// The session that a request says it belongs to, if it is true.
pub(crate) fn visit(gate: &Gate, live: &Live, head: &Parts, address: IpAddr) -> Option<Visit> {
    let now = gate.clock.last();
    let mut visit = live.sessions.find(&head.headers, now)?;
    if let Some(class) = gate.overrides.get(visit.session.id, now) {
        // The operator has the last word: the class may also be a lower one.
        visit.write |= visit.session.class != class;
        visit.session.raised |= class < visit.session.class;
        visit.session.class = class;
        visit.basis = Basis::Operator;
    } else if !live.settings.rules.raise.is_empty() {
        let session = visit.session;
        let class = gate.classes.get(session.class.index()).map_or("", String::as_str);
        let facts = Facts { class, age: now.since(session.issued), raised: session.raised };
        let Parts { method, uri, headers, .. } = head;
        let subject = Subject {
            method,
            uri,
            headers,
            address,
            server_name: ServerName::of(head),
            session: Some(facts),
        };
        if let Some((rule, class)) = live.settings.rules.raise(subject, session.class) {
            visit.write |= visit.session.raise(class);
            visit.basis = Basis::Raise(rule);
        }
    }
    Some(visit)
}
