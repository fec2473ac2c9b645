//! A flash crowd, simulated: five times the capacity for ten seconds in a quiet half minute.
//!
//! The server serves one request after another, 25 ms each. The snapshot holds integers only,
//! so it is the same on every machine; a change of it is a change of the policy's behaviour.
#![allow(clippy::expect_used, reason = "a test fails by panicking")]

use std::collections::VecDeque;
use std::fmt::Write;

use policy::{
    Arrival, Config, Deadlines, Decision, Driver, Handler, Kind, KnownSession, Limits, Policy, SessionHint,
    Waits, Window,
};
use units::{ClassId, RequestId, SessionId, Span, Time};

const SERVICE: Span = Span::from_millis(25);

/// A request of a session of its own.
fn known(client: u64, class: u8) -> SessionHint {
    SessionHint::Known(KnownSession::active(SessionId(client), ClassId(class)))
}

struct Crowd {
    driver: Driver<Request>,
    rng: fastrand::Rng,
    now: Time,
    next: u64,
    server: Server,
}

/// A request's payload: its class, and when it came.
struct Request {
    class: usize,
    since: Time,
}

struct Server {
    inside: VecDeque<RequestId>,
    refused: Vec<RequestId>,
    free: Time,
    second: Second,
}

impl Handler<Request> for Server {
    fn classify(&mut self, _: &mut Request) -> ClassId {
        ClassId(1)
    }

    fn decided(&mut self, now: Time, id: RequestId, request: &mut Request, decision: Decision, _: Waits) {
        match decision {
            Decision::Dispatch => {
                self.second.served[request.class] += 1;
                let wait = &mut self.second.longest_wait[request.class];
                *wait = (*wait).max(now.since(request.since));
                if self.inside.is_empty() {
                    self.free = now + SERVICE;
                }
                self.inside.push_back(id);
            }
            Decision::Refuse(_) => {
                self.second.refused[request.class] += 1;
                self.refused.push(id);
            }
        }
    }
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
            driver: Driver::new(Policy::new(config).expect("sound")),
            rng: fastrand::Rng::with_seed(42),
            now: Time::ZERO,
            next: 0,
            server: Server {
                inside: VecDeque::new(),
                refused: Vec::new(),
                free: Time::NEVER,
                second: Second::default(),
            },
        }
    }

    /// A fifth of the requests are of known premium sessions, a fifth of known basic ones.
    fn arrive(&mut self) {
        let client = self.next;
        self.next += 1;
        let (class, session) = match self.rng.u32(0..5) {
            0 => (0, known(client, 0)),
            1 => (1, known(client, 1)),
            _ => (1, SessionHint::New),
        };
        self.server.second.offered[class] += 1;
        let arrival = Arrival { session, client, kind: Kind::default() };
        let request = Request { class, since: self.now };
        self.driver.arrive(self.now, arrival, request, &mut self.server);
        self.cycle();
    }

    fn cycle(&mut self) {
        self.driver.cycle(self.now, &mut self.server);
        self.forget_refused();
    }

    fn finish(&mut self) {
        if let Some(id) = self.server.inside.pop_front() {
            self.server.free = if self.server.inside.is_empty() { Time::NEVER } else { self.now + SERVICE };
            self.driver.finish(self.now, id, &mut self.server);
            self.forget_refused();
        }
    }

    fn forget_refused(&mut self) {
        while let Some(id) = self.server.refused.pop() {
            self.driver.finish(self.now, id, &mut self.server);
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
            let wake = self.driver.next_wake(self.now);
            let next = arrival.min(wake).min(self.server.free).min(end);
            self.now = next.max(self.now);
            if next == end {
                return std::mem::take(&mut self.server.second);
            } else if next == self.server.free {
                self.finish();
            } else if next == arrival {
                arrivals.next();
                self.arrive();
            } else {
                self.cycle();
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
        let basic = crowd.driver.policy().class_snapshots().last().expect("two classes");
        let state = crowd.driver.policy().snapshot();
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
