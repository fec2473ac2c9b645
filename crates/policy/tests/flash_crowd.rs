//! A flash crowd, simulated: five times the capacity for ten seconds in a quiet half minute.
//!
//! The server serves one request after another, 25 ms each. The snapshot holds integers only,
//! so it is the same on every machine; a change of it is a change of the policy's behaviour.
#![allow(clippy::expect_used, reason = "a test fails by panicking")]

use std::collections::{HashMap, VecDeque};
use std::fmt::Write;

use policy::{Config, Deadlines, Input, Kind, Limits, Output, Policy, SessionHint, Window};
use units::{ClassId, RequestId, Span, Time};

const SERVICE: Span = Span::from_millis(25);

struct Crowd {
    policy: Policy,
    rng: fastrand::Rng,
    now: Time,
    next: u64,
    arrived: HashMap<RequestId, (usize, Time)>,
    inside: VecDeque<RequestId>,
    server_free: Time,
    second: Second,
}

#[derive(Default)]
struct Second {
    offered: [u64; 2],
    served: [u64; 2],
    refused: [u64; 2],
    longest_wait: [Span; 2],
}

impl Crowd {
    fn new() -> Self {
        let limits = Limits { deadlines: Deadlines::all(Span::from_secs(2)), ..Limits::default() };
        let config = Config { limits, window: Window::Fixed(2), ..Config::default() };
        Self {
            policy: Policy::new(config).expect("sound"),
            rng: fastrand::Rng::with_seed(42),
            now: Time::ZERO,
            next: 0,
            arrived: HashMap::new(),
            inside: VecDeque::new(),
            server_free: Time::NEVER,
            second: Second::default(),
        }
    }

    /// A fifth of the requests are of known premium sessions, a fifth of known basic ones.
    fn arrive(&mut self) {
        let id = RequestId(self.next);
        self.next += 1;
        let (class, session) = match self.rng.u32(0..5) {
            0 => (0, SessionHint::Known(ClassId(0))),
            1 => (1, SessionHint::Known(ClassId(1))),
            _ => (1, SessionHint::New),
        };
        self.second.offered[class] += 1;
        self.arrived.insert(id, (class, self.now));
        self.tell(Input::Arrived { id, session, client: id.0, kind: Kind::default() });
        self.tell(Input::Cycle);
    }

    fn finish(&mut self) {
        if let Some(id) = self.inside.pop_front() {
            self.server_free = if self.inside.is_empty() { Time::NEVER } else { self.now + SERVICE };
            self.tell(Input::Finished { id });
        }
    }

    fn tell(&mut self, input: Input) {
        self.policy.handle(self.now, input);
        while let Some(output) = self.policy.poll() {
            match output {
                Output::Classify(id) => {
                    self.policy.handle(self.now, Input::Classified { id, class: ClassId(1) })
                }
                Output::Dispatch(id) => {
                    let (class, since) = self.arrived.remove(&id).expect("arrived once");
                    self.second.served[class] += 1;
                    let wait = &mut self.second.longest_wait[class];
                    *wait = (*wait).max(self.now.since(since));
                    if self.inside.is_empty() {
                        self.server_free = self.now + SERVICE;
                    }
                    self.inside.push_back(id);
                }
                Output::Reject(id, _) => {
                    let (class, _) = self.arrived.remove(&id).expect("arrived once");
                    self.second.refused[class] += 1;
                }
            }
        }
    }

    /// Lives through one second with `rate` arrivals.
    fn second(&mut self, rate: u64) -> Second {
        let begin = self.now;
        let mut arrivals: Vec<Time> =
            (0..rate).map(|_| begin + Span::from_nanos(self.rng.u64(0..1_000_000_000))).collect();
        arrivals.sort();
        let end = begin + Span::from_secs(1);
        let mut arrivals = arrivals.into_iter().peekable();
        loop {
            let arrival = arrivals.peek().copied().unwrap_or(Time::NEVER);
            let wake = self.policy.next_wake(self.now);
            let next = arrival.min(wake).min(self.server_free).min(end);
            self.now = next.max(self.now);
            if next == end {
                return std::mem::take(&mut self.second);
            } else if next == self.server_free {
                self.finish();
            } else if next == arrival {
                arrivals.next();
                self.arrive();
            } else {
                self.tell(Input::Cycle);
            }
        }
    }
}

#[test]
fn a_flash_crowd_costs_premium_users_little() {
    let mut crowd = Crowd::new();
    let mut table = String::from(
        "         premium                    | basic                      | state\n\
         second  offered served refused wait | offered served refused wait | queued held k p_new\n",
    );
    let mut premium_refused = 0;
    for second in 0..24 {
        let rate = if (4..14).contains(&second) { 200 } else { 28 };
        let Second { offered, served, refused, longest_wait } = crowd.second(rate);
        premium_refused += refused[0];
        let basic = crowd.policy.class_snapshots().last().expect("two classes");
        let state = crowd.policy.snapshot();
        let millis = longest_wait.map(|wait| wait.as_nanos() / 1_000_000);
        write!(table, "{second:>6}").expect("to a string");
        for c in 0..2 {
            write!(table, "  {:>7} {:>6} {:>7} {:>4} ", offered[c], served[c], refused[c], millis[c])
                .expect("to a string");
        }
        writeln!(
            table,
            " {:>7} {:>4} {} {:>4}",
            state.lengths.class,
            state.lengths.discard,
            state.look_ahead,
            (1000.0 * basic.admits_new) as u64
        )
        .expect("to a string");
    }
    assert_eq!(premium_refused, 0, "{table}");
    insta::assert_snapshot!(table);
}
