//! Requests that idle in the server until something happens, beside those that it works on.
#![allow(clippy::expect_used, reason = "a test fails by panicking")]

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use policy::{Arrival, Config, Decision, Driver, Handler, Kind, Limits, Policy, SessionHint, Waits, Window};
use units::{ClassId, RequestId, Span, Time};

/// What a request does in the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Does {
    /// Waits for so long, and costs nothing.
    Idles(Span),
    /// Needs so much of a processor.
    Works(Span),
}

#[derive(Default)]
struct Decisions(Vec<(RequestId, Does, Decision)>);

impl Handler<Does> for Decisions {
    fn classify(&mut self, _: &mut Does) -> ClassId {
        ClassId(1)
    }

    fn decided(&mut self, _: Time, id: RequestId, does: &mut Does, decision: Decision, _: Waits) {
        self.0.push((id, *does, decision));
    }
}

/// A server whose processors are shared evenly by all that it works on, behind a policy.
struct World {
    driver: Driver<Does>,
    decisions: Decisions,
    now: Time,
    processors: f64,
    /// What those need still that it works on.
    working: BTreeMap<RequestId, (Does, Span)>,
    idle: BinaryHeap<Reverse<(Time, RequestId)>>,
    arrived: BTreeMap<RequestId, Time>,
    /// How long each took that was served, and when it came.
    served: Vec<(Does, Time, Span)>,
    refused: Vec<(Does, Time)>,
    /// When those poll again that were refused.
    again: VecDeque<Time>,
}

const STEP: Span = Span::from_millis(5);

impl World {
    fn new(window: Window) -> Self {
        let config = Config { window, limits: Limits::default(), ..Config::default() };
        Self {
            driver: Driver::new(Policy::new(config).expect("sound")),
            decisions: Decisions::default(),
            now: Time::from_nanos(1),
            processors: 2.0,
            working: BTreeMap::new(),
            idle: BinaryHeap::new(),
            arrived: BTreeMap::new(),
            served: Vec::new(),
            refused: Vec::new(),
            again: VecDeque::new(),
        }
    }

    fn arrive(&mut self, path: &str, does: Does) {
        let client = self.arrived.len() as u64;
        let arrival = Arrival { session: SessionHint::New, client, kind: Kind::of("GET", path) };
        let id = self.driver.arrive(self.now, arrival, does, &mut self.decisions);
        self.arrived.insert(id, self.now);
    }

    fn step(&mut self) {
        self.now += STEP;
        while self.again.front().is_some_and(|at| *at <= self.now) {
            self.again.pop_front();
            self.arrive("/poll", POLL);
        }
        self.driver.turn(self.now, 7, &mut self.decisions);
        let share = STEP.mul_f64((self.processors / self.working.len().max(1) as f64).min(1.0));
        let mut ended = Vec::new();
        for (id, (does, left)) in &mut self.working {
            *left = left.saturating_sub(share);
            if *left == Span::ZERO {
                ended.push((*id, *does));
            }
        }
        while let Some(Reverse((_, id))) = self.idle.peek().filter(|Reverse((until, _))| *until <= self.now) {
            ended.push((*id, Does::Idles(Span::ZERO)));
            self.idle.pop();
        }
        for (id, does) in ended {
            self.working.remove(&id);
            let came = self.arrived[&id];
            self.served.push((does, came, self.now.since(came)));
            self.driver.finish(self.now, id, &mut self.decisions);
        }
        for (id, does, decision) in std::mem::take(&mut self.decisions.0) {
            match (decision, does) {
                (Decision::Refuse(_), _) => {
                    self.refused.push((does, self.arrived[&id]));
                    if does == POLL {
                        self.again.push_back(self.now + Span::from_secs(1));
                    }
                    self.driver.finish(self.now, id, &mut self.decisions);
                }
                (Decision::Dispatch, Does::Idles(span)) => self.idle.push(Reverse((self.now + span, id))),
                (Decision::Dispatch, Does::Works(span)) => {
                    self.working.insert(id, (does, span));
                }
            }
        }
    }

    /// Lets so many milliseconds pass, with a page asked for in each so many.
    fn pass(&mut self, millis: u64, every: u64) {
        let begin = self.now;
        let mut asked = 0;
        while self.now.since(begin) < Span::from_millis(millis) {
            while self.now.since(begin) >= Span::from_millis(asked * every) {
                self.arrive("/page", PAGE);
                asked += 1;
            }
            self.step();
        }
    }

    /// Of the pages asked for from then on: how many were refused, and how long the slowest took.
    fn pages_since(&self, since: Time) -> (usize, Span) {
        let refused = self.refused.iter().filter(|(does, came)| *does == PAGE && *came >= since).count();
        let took = self.served.iter().filter(|(does, came, _)| *does == PAGE && *came >= since);
        (refused, took.map(|(_, _, took)| *took).max().unwrap_or_default())
    }
}

const PAGE: Does = Does::Works(Span::from_millis(20));
const REPORT: Does = Does::Works(Span::from_secs(10));
const POLL: Does = Does::Idles(Span::from_secs(60));
const ADAPTIVE: Window = Window::Adaptive { initial: 8, min: 1, max: 256 };

#[test]
fn long_polls_do_not_keep_pages_from_their_places() {
    for polls in [4, 8, 30, 300] {
        let mut world = World::new(ADAPTIVE);
        world.pass(2000, 20);
        for _ in 0..polls {
            world.arrive("/poll", POLL);
        }
        // They are found out in a second, and by the number that is known to do no harm.
        // They are found out in a second, and by the number that is known to do no harm.
        world.pass(18_000, 20);
        let since = world.now;
        world.pass(5000, 20);
        let (refused, slowest) = world.pages_since(since);
        assert!(refused == 0 && slowest < Span::from_millis(200), "{polls}: {refused} refused, {slowest:?}");
        assert_eq!(world.driver.policy().snapshot().streaming, polls);
    }
}

#[test]
fn what_works_for_long_keeps_its_place_where_others_are_slower_for_it() {
    let mut world = World::new(ADAPTIVE);
    world.pass(2000, 20);
    for _ in 0..60 {
        world.arrive("/report", REPORT);
        world.pass(1000, 20);
        let without_place = world.driver.policy().snapshot().streaming;
        assert!(without_place <= 8, "{without_place}");
    }
}

#[test]
fn a_server_that_hangs_gets_little_more() {
    for window in [ADAPTIVE, Window::Fixed(8)] {
        let mut world = World::new(window);
        world.pass(2000, 20);
        for number in 0..40 {
            world.arrive(["/a", "/b", "/c", "/d"][number % 4], POLL);
        }
        let before = world.idle.len();
        world.processors = 0.0;
        world.pass(20_000, 20);
        let inside = world.idle.len() + world.working.len() - before;
        let most = if window == ADAPTIVE { 8 + 8 + 3 } else { 8 + 2 };
        assert!(inside <= most, "{inside} inside with {window:?}");
    }
}
