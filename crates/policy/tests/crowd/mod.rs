//! A server behind a policy, and those who come to it, on virtual time.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use policy::{Arrival, Config, Decision, Driver, Handler, Kind, KnownSession, Policy, SessionHint, Waits};
use units::{ClassId, RequestId, SessionId, Span, Time};

/// Somebody who asks for one page after the other.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asker {
    /// Of which the figures are kept apart.
    pub(crate) group: usize,
    pub(crate) client: u64,
    pub(crate) session: Keeps,
    /// Mean pause after an answer, in seconds.
    pub(crate) pause: f64,
    /// How long it waits for one.
    pub(crate) patience: Span,
    /// Whether it stays for more than one page.
    pub(crate) stays: Stays,
}

/// What it does about sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keeps {
    /// It has this one, of that class.
    Session { id: u64, class: ClassId, is_raised: bool },
    /// It keeps the one that it is given.
    Given,
    /// It throws away what it is given.
    Nothing,
}

/// For how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stays {
    /// For one page.
    One,
    /// For good.
    On,
}

/// What has become of the requests of a group.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tally {
    pub(crate) served: u32,
    pub(crate) lost: u32,
}

impl Tally {
    pub(crate) fn share(self) -> f64 {
        f64::from(self.served) / f64::from((self.served + self.lost).max(1))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Ask(usize),
    GiveUp(usize, RequestId),
    Done(usize, RequestId),
}

pub(crate) struct Crowd {
    driver: Driver<usize>,
    service: Span,
    now: Time,
    events: BinaryHeap<Reverse<(Time, u64, Event)>>,
    asked: u64,
    sessions: u64,
    askers: Vec<Asker>,
    waiting: HashMap<RequestId, usize>,
    decisions: Decisions,
    tallies: Vec<Tally>,
    pub(crate) rng: fastrand::Rng,
    /// From when on it counts.
    counts_from: Time,
}

#[derive(Default)]
struct Decisions(Vec<(RequestId, usize, Decision)>);

impl Handler<usize> for Decisions {
    fn classify(&mut self, _: &mut usize) -> ClassId {
        ClassId(1)
    }

    fn decided(&mut self, _: Time, id: RequestId, asker: &mut usize, decision: Decision, _: Waits) {
        self.0.push((id, *asker, decision));
    }
}

impl Crowd {
    /// A server that takes `service` for a page.
    pub(crate) fn new(config: Config, service: Span, groups: usize, seed: u64) -> Self {
        Self {
            driver: Driver::new(Policy::new(config).expect("sound")),
            service,
            now: Time::from_nanos(1),
            events: BinaryHeap::new(),
            asked: 0,
            sessions: 1 << 32,
            askers: Vec::new(),
            waiting: HashMap::new(),
            decisions: Decisions::default(),
            tallies: vec![Tally::default(); groups],
            rng: fastrand::Rng::with_seed(seed),
            counts_from: Time::ZERO,
        }
    }

    /// Somebody comes after so many seconds.
    pub(crate) fn add(&mut self, after: f64, asker: Asker) {
        self.askers.push(asker);
        self.at(Span::from_secs_f64(after), Event::Ask(self.askers.len() - 1));
    }

    /// Many come, `rate` each second from `from` until `until`, each as `asker` says of a number.
    pub(crate) fn add_many(&mut self, rate: f64, from: f64, until: f64, asker: impl Fn(u64) -> Asker) {
        let (mut time, mut number) = (from, 0);
        loop {
            time += -(1.0 - self.rng.f64()).ln() / rate;
            if time >= until {
                return;
            }
            self.add(time, asker(number));
            number += 1;
        }
    }

    /// Lets `seconds` pass; what becomes of requests counts after `from`.
    pub(crate) fn run(&mut self, from: f64, seconds: f64) -> &[Tally] {
        self.counts_from = Time::ZERO + Span::from_secs_f64(from);
        let end = Time::ZERO + Span::from_secs_f64(seconds);
        loop {
            let next = self.events.peek().map_or(Time::NEVER, |Reverse((time, ..))| *time);
            let wake = self.driver.next_wake(self.now);
            if next.min(wake) > end {
                return &self.tallies;
            }
            self.now = self.now.max(next.min(wake));
            if next <= wake
                && let Some(Reverse((_, _, event))) = self.events.pop()
            {
                self.happen(event);
            }
            self.driver.cycle(self.now, &mut self.decisions);
            self.carry_out();
        }
    }

    fn at(&mut self, after: Span, event: Event) {
        self.asked += 1;
        self.events.push(Reverse((self.now + after, self.asked, event)));
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Ask(asker) => {
                let Asker { client, session, patience, .. } = self.askers[asker];
                let session = match session {
                    Keeps::Session { id, class, is_raised } => SessionHint::Known(KnownSession {
                        is_raised,
                        ..KnownSession::active(SessionId(id), class)
                    }),
                    Keeps::Given | Keeps::Nothing => SessionHint::New,
                };
                let arrival = Arrival { session, client, kind: Kind::default() };
                let id = self.driver.arrive(self.now, arrival, asker, &mut self.decisions);
                self.waiting.insert(id, asker);
                self.at(patience, Event::GiveUp(asker, id));
            }
            Event::GiveUp(asker, id) => {
                if self.waiting.remove(&id).is_some() {
                    self.driver.abort(self.now, id, &mut self.decisions);
                    self.ended(asker, false);
                }
            }
            Event::Done(asker, id) => {
                self.driver.finish(self.now, id, &mut self.decisions);
                if self.waiting.remove(&id).is_some() {
                    self.ended(asker, true);
                }
            }
        }
    }

    fn carry_out(&mut self) {
        for (id, asker, decision) in std::mem::take(&mut self.decisions.0) {
            match decision {
                Decision::Dispatch => self.at(self.service, Event::Done(asker, id)),
                Decision::Refuse(_) => {
                    self.driver.finish(self.now, id, &mut self.decisions);
                    if self.waiting.remove(&id).is_some() {
                        self.ended(asker, false);
                    }
                }
            }
        }
    }

    /// An asker has its answer, or none.
    fn ended(&mut self, number: usize, was_served: bool) {
        /// Who was refused does not ask again at once.
        const AGAIN: f64 = 0.2;
        let asker = self.askers[number];
        if self.now >= self.counts_from {
            let tally = &mut self.tallies[asker.group];
            tally.served += u32::from(was_served);
            tally.lost += u32::from(!was_served);
        }
        if was_served && asker.session == Keeps::Given {
            self.sessions += 1;
            let (id, class) = (self.sessions, ClassId(1));
            self.askers[number].session = Keeps::Session { id, class, is_raised: false };
        }
        if asker.stays == Stays::On {
            let pause = -(1.0 - self.rng.f64()).ln() * asker.pause;
            self.at(
                Span::from_secs_f64(if was_served { pause } else { pause.max(AGAIN) }),
                Event::Ask(number),
            );
        }
    }
}
