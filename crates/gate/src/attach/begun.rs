//! A request that a process has begun without asking.

use std::net::IpAddr;

use handoff::events::What;
use http::request::Parts;

use super::attached::Attached;
use super::peek::cut;
use super::served::Inside;
use crate::admission::decision::{Basis, Caller, DecisionDetails};
use crate::admission::permit::Permit;
use crate::clients::peer::Peer;
use crate::dispatch::session::{as_asked, current_session};
use crate::observe::access_log::account::Account;
use crate::session::current::CurrentSession;
use crate::upstream::body::Progress;

/// What a client knows of its session.
enum Told {
    Nothing,
    /// It is to have another token.
    NotAll,
    All,
}

/// Whose a request is that has begun.
struct Whose {
    address: IpAddr,
    known: Caller,
    /// The session that its client is told of.
    prepared: Option<CurrentSession>,
}

impl Attached {
    /// A request has begun, and has taken the place that the policy gives it now.
    pub(super) fn began(&self, what: What, slot: u32, head: &[u8]) {
        let Some(whose) = self.whose(what, slot) else {
            // It has taken a place that no request is known to have.
            self.memory().places.give();
            return;
        };
        self.published.set(self.published.get() - 1);
        let (inside, caller, told) = self.take_in(cut(head), whose);
        match told {
            // It has a token that seemed to hold. As the gate does not know it, it gets another when it comes again.
            Told::Nothing if what == What::BeganFirst => self.calm.is_stranger(),
            Told::All => {}
            Told::Nothing | Told::NotAll => self.memory().slots[slot as usize].set_may_begin(false),
        }
        if let Some(served) = self.slots.borrow_mut().get(slot) {
            (served.inside, served.caller) = (Some(inside), caller);
        }
    }

    fn whose(&self, what: What, slot: u32) -> Option<Whose> {
        let mut slots = self.slots.borrow_mut();
        let served = slots.get(slot)?;
        let prepared = served.prepared.take();
        if prepared.is_some() {
            let client = self.memory().slots[slot as usize].client();
            served.peer = client.socket().unwrap_or(served.peer);
            self.is_used(served.process);
        }
        let session = prepared.filter(|_| what == What::BeganSession).and_then(|prepared| prepared.0);
        Some(Whose { address: served.peer.ip(), known: served.caller, prepared: session })
    }

    /// Gives the request, whose it is, and what its client knows of that.
    fn take_in(&self, head: Box<Parts>, Whose { address, known, prepared }: Whose) -> (Inside, Caller, Told) {
        let proxy = &self.proxy;
        let config = proxy.config();
        let now = proxy.clock.last();
        let forwarding = &config.settings.forwarding;
        let address = match &forwarding.trusted[..] {
            [] => address,
            _ => forwarding.client(&head.headers, Peer::new(address).hop()),
        };
        let mut account =
            Account::begin(&proxy.access_log, &proxy.clock, &head, address, &config.settings.telemetry);
        let current = current_session(proxy, &config, &head, address);
        // What was told of its head may have been too short for the cookie.
        let caller = current.as_ref().map_or(known, |current| Caller::Known(current.known(now)));
        let asked = if current.is_none() { as_asked(&config, &head, address, known) } else { caller };
        account.arrived(Progress::default(), caller.known().map(|known| known.session.id));
        let begins_session =
            config.settings.has_sessions() && !config.settings.session.excepts(head.uri.path());
        let (permit, details) = Permit::begun(proxy.admission(), head, address, asked);
        account.decided(details);
        let told = match &current {
            Some(current) if current.write => Told::NotAll,
            None if prepared.is_none() && known.known().is_none() && begins_session => Told::Nothing,
            _ => Told::All,
        };
        let caller = match (&current, prepared) {
            (None, Some(session)) => {
                account.begins(session.session.id);
                permit.begins(session.session.id);
                Caller::Known(self.found(session, details).known(now))
            }
            _ => caller,
        };
        if let Some(current) = current.as_ref().filter(|current| current.write) {
            self.remember(current);
        }
        let raises = current.map(|current| current.raises).unwrap_or_default();
        (Inside { permit, account, raises }, caller, told)
    }

    /// A session has begun, of the class of its first request. Its client has been told of the last one.
    fn found(&self, mut session: CurrentSession, details: DecisionDetails) -> CurrentSession {
        if let Some(class) = details.class
            && session.session.promote(class)
        {
            self.tell_later(&self.proxy.found, session.session.id, class);
        }
        session
    }

    /// A session has come to a class by its request, which its client has not been told of.
    fn remember(&self, current: &CurrentSession) {
        let (table, is_raised) = match current.basis {
            Basis::Rule(_) => (&self.proxy.found, false),
            Basis::Raise(_) => (&self.proxy.raised, true),
            // It is known elsewhere, or the token is to be renewed, which is seen from its time.
            _ => return,
        };
        if self.tell_later(table, current.session.id, current.session.class) && is_raised {
            self.proxy.raises.count(false);
        }
    }
}
