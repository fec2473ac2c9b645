//! [`Held`]: a request that the policy decides about, and [`Wakes`]: who is told of what it decides.

use std::net::IpAddr;
use std::task::Waker;

use http::request::Parts;
use policy::connections::ConnectionId;
use policy::{Decision as Decided, Handler, Kind, Reason, Ticket, Waits};
use units::{ClassId, RequestId, SessionId, Span, Time};

use crate::admission::decision::{Basis, Caller, DecisionDetails};
use crate::admission::lately::{Fate, Past};
use crate::clients::peer::ServerName;
use gate_config::rules::all::Rules;
use gate_config::rules::subject::Subject;

/// A request that the policy decides about.
#[derive(Debug)]
pub(super) struct Held {
    /// Until it is dispatched or refused.
    pub(super) head: Option<Box<Parts>>,
    pub(super) connection: ConnectionId,
    pub(super) address: IpAddr,
    pub(super) class: Option<ClassId>,
    pub(super) basis: Basis,
    pub(super) kind: Kind,
    pub(super) session: Option<SessionId>,
    pub(super) began: bool,
    pub(super) arrived: Time,
    pub(super) dispatched: Option<Time>,
    /// What a request had of the server that was always inside, when this came there.
    pub(super) shared: Span,
    pub(super) refused: Option<Reason>,
    /// When its client has gone.
    pub(super) gave_up: Option<Time>,
    /// Its place in the waiting room, if it was refused and has one.
    pub(super) ticket: Option<Ticket>,
    /// Until the decision.
    pub(super) waits: Waits,
    pub(super) waiting: Option<Waker>,
}

/// How the server's time is divided, if all that is inside has the same of it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Shared {
    at: Time,
    /// What a request would have had that is inside all the time.
    pub(super) each: Span,
}

impl Shared {
    /// It is `now`, and so many requests were inside until then.
    pub(super) fn advance(&mut self, now: Time, inside: u32) {
        // Before the first look nothing was inside.
        if self.at > Time::ZERO {
            self.each += now.since(self.at) / u64::from(inside.max(1));
        }
        self.at = self.at.max(now);
    }
}

/// Finds classes by the rules, and wakes the tasks of requests that wait for a decision.
pub(super) struct Wakes<'a> {
    pub(super) rules: &'a Rules,
    pub(super) last: ClassId,
    /// See [`Shared`].
    pub(super) shared: Span,
}

impl Handler<Held> for Wakes<'_> {
    fn classify(&mut self, held: &mut Held) -> ClassId {
        if let Some(class) = held.class {
            return class;
        }
        let found = held.head.as_deref().and_then(|head| {
            let Parts { method, uri, headers, .. } = head;
            self.rules.find(Subject {
                method,
                uri,
                headers,
                address: held.address,
                server_name: ServerName::of(head),
                session: None,
            })
        });
        let (class, basis) = match found {
            Some((index, class)) => (class, Basis::Rule(index)),
            None => (self.last, Basis::Last),
        };
        (held.class, held.basis) = (Some(class), basis);
        class
    }

    fn decided(&mut self, now: Time, _: RequestId, held: &mut Held, decided: Decided, waits: Waits) {
        match decided {
            Decided::Dispatch => {
                // In shadow mode a request goes to the server before the policy asks for its class.
                self.classify(held);
                (held.dispatched, held.shared) = (Some(now), self.shared);
            }
            Decided::Refuse(reason) => held.refused = Some(reason),
        }
        held.waits = waits;
        if let Some(waker) = held.waiting.take() {
            waker.wake();
        }
    }

    fn placed(&mut self, held: &mut Held, ticket: Ticket) {
        held.ticket = Some(ticket);
    }
}

impl Held {
    pub(super) fn arriving(
        now: Time,
        head: Box<Parts>,
        (connection, address): (ConnectionId, IpAddr),
        (caller, kind): (Caller, Kind),
    ) -> Self {
        let known = caller.known();
        Self {
            head: Some(head),
            connection,
            address,
            class: known.map(|known| known.session.class),
            basis: known.map_or(Basis::Unknown, |known| known.basis),
            kind,
            session: known.map(|known| known.session.id).or(caller.visit().map(|visit| visit.id)),
            // Who waits in the waiting room comes again and again before a session begins.
            began: known.is_none() && caller.visit().is_none_or(|visit| visit.told.is_none()),
            arrived: now,
            dispatched: None,
            shared: Span::ZERO,
            refused: None,
            gave_up: None,
            ticket: None,
            waits: Waits::ZERO,
            waiting: None,
        }
    }

    pub(super) fn details(&self) -> DecisionDetails {
        let Self { class, basis, refused, waits, ticket, .. } = *self;
        DecisionDetails { class, basis, refused, waits, ticket }
    }

    /// What became of it, at its end; `share` is what it had of the server.
    pub(super) fn past(&self, now: Time, share: Span) -> Past {
        let sent = self.dispatched.unwrap_or(now);
        let fate = match self.refused {
            Some(_) => Fate::Refused,
            None if self.gave_up.is_some() || self.dispatched.is_none() => Fate::GaveUp,
            None => Fate::Served,
        };
        // The server goes on with it, but its client has waited for so long only.
        let ended = self.gave_up.unwrap_or(now).max(sent);
        Past {
            arrived: self.arrived,
            session: self.session,
            began: self.began,
            kind: self.kind,
            class: self.class,
            waited: sent.since(self.arrived),
            served: ended.since(sent),
            share,
            fate,
            weight: 1,
        }
    }
}
