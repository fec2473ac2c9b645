//! [`Pool`]: the servers, and the connections to them that are kept between requests.

use std::cell::{Cell, Ref, RefCell};
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use http1::response::Limits;
use units::{Ratio, Span, Time};

use crate::runtime::clock::Clock;
use crate::runtime::connector::Connector;
use crate::runtime::log::say;
use crate::runtime::notify::Notify;
use crate::runtime::open::Open;
use crate::upstream::balance::Balance;
use crate::upstream::bound::{BoundConnections, Owner};
use crate::upstream::budget::Budget;
use crate::upstream::endpoints::{self, Found, LookUpError};
use crate::upstream::failure::Failure;
use crate::upstream::failure::Told;
use crate::upstream::health::Standing;
use crate::upstream::lease::{Channel, Lease};
use crate::upstream::server::{Load, Server};
use crate::upstream::tls::Authorities;
use gate_config::settings::upstream::Upstream;

/// The servers behind the gate.
#[derive(Debug)]
pub(crate) struct Pool {
    settings: RefCell<Upstream>,
    /// Whose certificates are believed; none where no server speaks TLS.
    authorities: RefCell<Option<Authorities>>,
    found: RefCell<Found>,
    failed_look_ups: Cell<u64>,
    times: Cell<Times>,
    limits: Cell<Limits>,
    clock: Rc<Clock>,
    pub(crate) connector: Connector,
    servers: RefCell<Vec<Rc<Server>>>,
    balance: Balance,
    /// Connections that are not for everybody.
    pub(crate) bound: BoundConnections,
    pub(crate) budget: Budget,
    /// Of the servers by weight, those that are up, and as the policy was last told.
    capacity: Cell<Ratio>,
    told_capacity: Cell<Ratio>,
    told: Told,
    /// Notified when the servers or how to check them have changed.
    pub(crate) changed: Notify,
    open: Rc<Cell<usize>>,
    opened: Cell<u64>,
    reused: Cell<u64>,
}

/// How long what may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    pub(crate) connect: Duration,
    /// For the head of a response, and for the next piece of its body.
    pub(crate) response: Duration,
    idle: Span,
}

impl From<&Upstream> for Times {
    fn from(settings: &Upstream) -> Self {
        let Upstream { connect_timeout, timeout, idle_timeout, .. } = *settings;
        Self { connect: connect_timeout, response: timeout, idle: idle_timeout.into() }
    }
}

impl Pool {
    /// `found` is where the servers' names led to.
    pub(crate) fn new(
        settings: Upstream,
        authorities: Option<Authorities>,
        found: Found,
        clock: Rc<Clock>,
        connector: Connector,
    ) -> Self {
        let pool = Self {
            times: Cell::new(Times::from(&settings)),
            limits: Cell::new(settings.limits),
            budget: Budget::new(settings.retry),
            settings: RefCell::new(settings),
            authorities: RefCell::new(authorities),
            found: RefCell::default(),
            failed_look_ups: Cell::new(0),
            clock,
            connector,
            servers: RefCell::default(),
            balance: Balance::default(),
            bound: BoundConnections::default(),
            capacity: Cell::new(Ratio::ONE),
            told_capacity: Cell::new(Ratio::ONE),
            told: Told::default(),
            changed: Notify::default(),
            open: Rc::default(),
            opened: Cell::new(0),
            reused: Cell::new(0),
        };
        pool.find(found, |_| true);
        pool
    }

    /// Follows a change of the configuration. Servers that stay keep their state and connections.
    pub(crate) fn change(&self, settings: Upstream, authorities: Option<Authorities>, mut found: Found) {
        for (server, addresses) in settings.servers.iter().zip(&mut found) {
            // One that leads nowhere now leads where it did.
            let before =
                self.settings.borrow().servers.iter().position(|before| before.address == server.address);
            if let Some(before) = before.filter(|_| addresses.is_empty()) {
                addresses.extend(self.found.borrow().get(before).into_iter().flatten());
            }
        }
        self.times.set(Times::from(&settings));
        self.limits.set(settings.limits);
        self.budget.change(settings.retry);
        let unchecked = settings.check.is_none();
        self.settings.replace(settings);
        let believes_others = *self.authorities.borrow() != authorities;
        self.authorities.replace(authorities);
        // Connections to servers that may not be believed any more carry nothing further.
        self.find(found, |server| !believes_others || server.endpoint.tls.is_none());
        if unchecked {
            self.servers.borrow().iter().for_each(|server| server.health.unchecked());
            self.reckon();
        }
    }

    /// Follows a change of where the servers' names lead to. Of the servers that there were, those stay that `may_stay`.
    fn find(&self, found: Found, may_stay: impl Fn(&Server) -> bool) {
        let endpoints = endpoints::endpoints(&self.settings.borrow().servers, &found);
        self.found.replace(found);
        let mut servers = self.servers.borrow_mut();
        let mut before = std::mem::take(&mut *servers);
        for endpoint in endpoints {
            let known = before.iter().position(|server| server.endpoint == endpoint && may_stay(server));
            servers.push(known.map_or_else(|| Server::new(endpoint), |index| before.swap_remove(index)));
        }
        before.iter().for_each(|server| server.leave());
        drop(servers);
        self.reckon();
        self.changed.notify();
    }

    /// Follows what names lead to now; one that leads nowhere leads where it did.
    pub(crate) fn look_up_again(&self, found: Vec<Result<Vec<SocketAddr>, LookUpError>>) {
        let mut next = self.found.borrow().clone();
        for (addresses, found) in next.iter_mut().zip(found) {
            match found {
                Ok(found) => *addresses = found,
                Err(_) => self.failed_look_ups.set(self.failed_look_ups.get() + 1),
            }
        }
        if next != *self.found.borrow() {
            self.find(next, |_| true);
        }
    }

    /// Times that a name led nowhere.
    pub(crate) fn failed_look_ups(&self) -> u64 {
        self.failed_look_ups.get()
    }

    pub(crate) fn settings(&self) -> Ref<'_, Upstream> {
        self.settings.borrow()
    }

    /// Whose certificates are believed.
    pub(crate) fn authorities(&self) -> Option<Authorities> {
        self.authorities.borrow().clone()
    }

    #[inline]
    pub(crate) fn times(&self) -> Times {
        self.times.get()
    }

    /// What the head of a response may have.
    #[inline]
    pub(crate) fn limits(&self) -> Limits {
        self.limits.get()
    }

    pub(crate) fn clock(&self) -> &Clock {
        &self.clock
    }

    pub(crate) fn servers(&self) -> Ref<'_, [Rc<Server>]> {
        Ref::map(self.servers.borrow(), Vec::as_slice)
    }

    /// A server for a request, other than `except`; `safe` says that it can be sent again if it fails.
    pub(crate) fn choose(&self, except: Option<&Rc<Server>>, safe: bool) -> Option<Load> {
        self.balance.choose(&self.servers.borrow(), except, safe, self.clock.last())
    }

    /// Whether there is another server than one.
    pub(crate) fn has_several(&self) -> bool {
        self.servers.borrow().len() > 1
    }

    /// The server answered.
    #[inline]
    pub(crate) fn succeeded(&self, server: &Server) {
        server.unanswered.answered();
        if server.health.succeeded(self.clock.last()) {
            say!("upstream {}: answers again", server.address());
            self.reckon();
        }
    }

    /// The server failed a request.
    pub(crate) fn failed(&self, server: &Server, failure: &Failure) {
        if !failure.is_the_servers() {
            if matches!(failure, Failure::Connect(_)) {
                self.tell(server, failure);
            }
            return;
        }
        let now = self.clock.last();
        self.tell(server, failure);
        server.count_failure();
        let rules = self.settings.borrow().ejection;
        let servers = self.servers.borrow();
        let down = servers.iter().filter(|server| server.health.standing(now) != Standing::Up).count();
        let room = (down + 1) as f64 <= servers.len() as f64 * rules.share.as_f64();
        drop(servers);
        if let Some(span) = server.health.failed(now, &rules, room) {
            say!("upstream {}: ejected for {span}", server.address());
            self.reckon();
        }
    }

    /// Finds out how much of the servers is up. If nothing is, all are tried as if they were.
    pub(crate) fn reckon(&self) {
        let now = self.clock.last();
        let servers = self.servers.borrow();
        let weight = |up: bool| {
            let counted = servers.iter().filter(|server| !up || server.health.standing(now) == Standing::Up);
            counted.map(|server| f64::from(server.endpoint.weight)).sum::<f64>()
        };
        let (up, all) = (weight(true), weight(false));
        self.capacity.set(if up > 0.0 { Ratio::clamped(up / all) } else { Ratio::ONE });
    }

    /// How much of the servers is up, if that has changed since the last call.
    #[inline]
    pub(crate) fn changed_capacity(&self) -> Option<Ratio> {
        let capacity = self.capacity.get();
        (self.told_capacity.replace(capacity) != capacity).then_some(capacity)
    }

    /// Tells the operator.
    pub(crate) fn tell(&self, server: &Server, failure: &Failure) {
        self.told.tell(failure, server.address(), self.clock.last());
    }

    /// Takes a connection back after a complete response; no more than `most` are kept.
    pub(crate) fn give_back(&self, lease: Lease, most: usize) {
        let server = lease.load.server();
        match lease.channel {
            Channel::Whole(_) if matches!(lease.owner, Owner::All) && server.unanswered.makes_way() => {}
            Channel::Whole(connection) => {
                let Some(connection) = connection.settle() else { return };
                let now = self.clock.last();
                match &lease.owner {
                    Owner::All if self.free() < most => server.keep(connection, now),
                    Owner::Client(client) => self.bound.keep(client, server, connection, now),
                    Owner::All | Owner::Nobody => {}
                }
            }
            Channel::Part(stream, _) => stream.over(self.clock.last()),
        }
    }

    /// Closes connections that were free for too long, and those the servers have closed.
    pub(crate) fn sweep(&self, now: Time) {
        let longest = self.times.get().idle;
        self.servers.borrow().iter().for_each(|server| server.sweep(now, longest));
        self.bound.sweep(now, longest);
    }

    /// Another connection is open, for as long as the result lives.
    pub(crate) fn opened(&self) -> Open {
        self.opened.set(self.opened.get() + 1);
        Open::new(&self.open)
    }

    /// One of them is used for something else now and stays open, for as long as the result lives.
    pub(crate) fn hold(&self) -> Open {
        Open::new(&self.open)
    }

    #[inline]
    pub(crate) fn count_reuse(&self) {
        self.reused.set(self.reused.get() + 1);
    }

    /// Connections open: free and in use.
    pub(crate) fn open(&self) -> usize {
        self.open.get()
    }

    /// Of these, free.
    pub(crate) fn free(&self) -> usize {
        self.servers.borrow().iter().map(|server| server.free()).sum::<usize>() + self.bound.len()
    }

    /// Connections opened since the start, and requests sent over one that was open already.
    pub(crate) fn traffic(&self) -> (u64, u64) {
        (self.opened.get(), self.reused.get())
    }

    /// Requests sent although no server was up.
    pub(crate) fn last_resort(&self) -> u64 {
        self.balance.last_resort()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gate_config::settings::upstream::Server as Named;

    fn settings(names: &[&str]) -> Upstream {
        let servers = names.iter().map(|name| Named::parse(name).unwrap());
        let mut servers: Vec<Named> = servers.collect();
        let mut settings = Upstream::of(servers.remove(0));
        settings.servers.append(&mut servers);
        settings
    }

    fn found(addresses: &[&[&str]]) -> Found {
        let parse = |all: &&[&str]| all.iter().map(|address| address.parse().unwrap()).collect();
        addresses.iter().map(parse).collect()
    }

    /// Two servers with an address each.
    fn pool(settings: Upstream) -> Pool {
        let found = found(&[&["10.0.0.1:1"], &["10.0.0.2:1"]]);
        Pool::new(settings, None, found, Rc::new(Clock::start()), Connector::Kernel)
    }

    fn addresses(pool: &Pool) -> Vec<String> {
        pool.servers().iter().map(|server| server.address().to_string()).collect()
    }

    #[test]
    fn servers_that_stay_are_the_same_ones() {
        let pool = pool(settings(&["a:1", "b:1"]));
        let before = pool.servers().to_vec();
        let next = found(&[&["10.0.0.2:1"], &["10.0.0.3:1"]]);
        pool.change(settings(&["b:1", "c:1"]), None, next);
        assert_eq!(addresses(&pool), ["10.0.0.2:1", "10.0.0.3:1"]);
        assert!(Rc::ptr_eq(&pool.servers()[0], &before[1]));
        pool.change(settings(&["d:1", "b:1"]), None, found(&[&["10.0.0.4:1"], &[]]));
        assert_eq!(addresses(&pool), ["10.0.0.4:1", "10.0.0.2:1"]);
        assert!(Rc::ptr_eq(&pool.servers()[1], &before[1]));
    }

    #[test]
    fn a_name_that_leads_nowhere_leads_where_it_did() {
        let pool = pool(settings(&["a:1", "b:1"]));
        let nowhere = || LookUpError {
            place: config::Place::outside("here"),
            address: "a:1".to_owned(),
            why: std::io::ErrorKind::NotFound.into(),
        };
        let now = ["10.0.0.2:1", "10.0.0.4:1"].map(|address| address.parse().unwrap()).to_vec();
        pool.look_up_again(vec![Err(nowhere()), Ok(now)]);
        assert_eq!(addresses(&pool), ["10.0.0.1:1", "10.0.0.2:1", "10.0.0.4:1"]);
        assert_eq!(pool.failed_look_ups(), 1);
    }

    #[test]
    fn the_policy_is_told_how_much_is_up() {
        let mut rules = settings(&["a:1", "b:1"]);
        rules.servers[0].weight = 3;
        rules.ejection.failures = 1;
        let pool = pool(rules);
        assert_eq!(pool.changed_capacity(), None);
        let servers = pool.servers().to_vec();
        pool.failed(&servers[0], &Failure::Timeout);
        assert_eq!(pool.changed_capacity(), Some(Ratio::clamped(0.25)));
        assert_eq!(pool.changed_capacity(), None);
        // No room for another.
        pool.failed(&servers[1], &Failure::Timeout);
        assert_eq!(pool.changed_capacity(), None);
    }
}
