//! A request that a process has begun without asking.

use std::net::{IpAddr, SocketAddr};

use handoff::events::What;
use http::request::Parts;

use super::attached::Attached;
use super::peek::cut;
use super::served::Inside;
use crate::admission::decision::{Basis, Caller, DecisionDetails};
use crate::admission::permit::Permit;
use crate::clients::peer::Peer;
use crate::dispatch::session::current_session;
use crate::observe::access_log::account::Account;
use crate::session::current::CurrentSession;
use crate::session::overrides::Full;
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
        let mut prepared = served.prepared.take();
        if prepared.is_some() {
            let client = self.memory().slots[slot as usize].client();
            served.peer = client.socket().unwrap_or(served.peer);
            self.is_used(served.process);
        }
        let session = prepared.take().filter(|_| what == What::BeganSession).and_then(|prepared| prepared.0);
        Some(Whose { address: SocketAddr::ip(&served.peer), known: served.caller, prepared: session })
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
        account.arrived(Progress::default(), caller.known().map(|known| known.session.id));
        let begins_session =
            config.settings.has_sessions() && !config.settings.session.excepts(head.uri.path());
        let (permit, details) = Permit::begun(proxy.admission(), head, address, caller);
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
        if current.as_ref().is_some_and(|current| current.write && self.remember(current).is_err()) {
            self.is_full();
        }
        let raises = current.map(|current| current.raises).unwrap_or_default();
        (Inside { permit, account, raises }, caller, told)
    }

    /// A session has begun, of the class of its first request. Its client has been told of the last one.
    fn found(&self, mut session: CurrentSession, details: DecisionDetails) -> CurrentSession {
        if let Some(class) = details.class
            && session.session.promote(class)
        {
            session.basis = Basis::Rule(0);
            if self.remember(&session).is_err() {
                self.is_full();
            }
            session.basis = Basis::Session;
        }
        session
    }

    /// A session is of a class that its client has not been told of: it is asked about when it comes again.
    fn remember(&self, current: &CurrentSession) -> Result<(), Full> {
        let proxy = &self.proxy;
        let (id, class) = (current.session.id, current.session.class);
        let (now, idle) = (proxy.clock.last(), proxy.config().settings.session.limits.idle);
        let table = match current.basis {
            Basis::Rule(_) => &proxy.found,
            Basis::Raise(_) => &proxy.raised,
            // It is known elsewhere, or the token is to be renewed, which is seen from its time.
            _ => return Ok(()),
        };
        table.set(id, class, now, idle)?;
        if matches!(current.basis, Basis::Raise(_)) {
            proxy.raises.count(false);
        }
        self.memory().tokens.mark(id.0);
        Ok(())
    }
}
