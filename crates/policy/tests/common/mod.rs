//! A driver that does to the policy what a server and its clients might, and keeps the books.

use std::collections::HashMap;

use policy::{
    Class, Config, Deadlines, Input, Kind, Knobs, Limits, LookAhead, Mode, Output, Policy, Reason,
    SessionHint, Window,
};
use proptest::prelude::*;
use units::{ClassId, Ratio, RequestId, Span, Time};

/// Something that may happen.
#[derive(Debug, Clone)]
pub(crate) enum Op {
    Arrive { class: u8, known: bool, client: u64 },
    Cycle,
    Wait(u64),
    Finish(usize),
    Abort(usize),
    Knobs(f64, f64),
    Pressure(f64),
    Capacity(f64),
}

pub(crate) fn ops(most: usize) -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![
        8 => (0..5u8, any::<bool>(), 0..6u64).prop_map(|(class, known, client)| Op::Arrive { class, known, client }),
        4 => Just(Op::Cycle),
        3 => (0..400u64).prop_map(Op::Wait),
        4 => any::<usize>().prop_map(Op::Finish),
        1 => any::<usize>().prop_map(Op::Abort),
        1 => (0.0..=1.0f64, 0.0..=1.0f64).prop_map(|(d, f)| Op::Knobs(d, f)),
        1 => (0.0..=1.0f64).prop_map(Op::Pressure),
        1 => (0.0..=1.0f64).prop_map(Op::Capacity),
    ];
    prop::collection::vec(op, 1..most)
}

pub(crate) fn config(mode: Mode) -> impl Strategy<Value = Config> {
    let window = prop_oneof![
        (1..5u32).prop_map(Window::Fixed),
        (1..4u32, 0..4u32, 0..8u32).prop_map(|(min, above, more)| Window::Adaptive {
            initial: min + above,
            min,
            max: min + above + more
        }),
    ];
    let look_ahead = prop_oneof![Just(LookAhead::Auto), (1..20u32).prop_map(LookAhead::Fixed)];
    let bounds = (1..8u32, 1..12u32, 1..8u32, 1..12u32, 0..8u32, 0..4u32);
    let differentiation = prop_oneof![Just(0.0), Just(1.0), 0.0..=1.0f64];
    let rest = (0.1..=1.0f64, 50..3000u64, differentiation, 0.0..=1.0f64, any::<u64>());
    (1..=4usize, window, look_ahead, bounds, rest).prop_map(
        move |(classes, window, look_ahead, bounds, rest)| {
            let (burst, acceptor_queue, pending_queue, class_queues, discard_queues, discard_periods) =
                bounds;
            let (client_share, deadline, differentiation, favour, seed) = rest;
            Config {
                classes: vec![Class::default(); classes],
                mode,
                knobs: Knobs {
                    differentiation: Ratio::clamped(differentiation),
                    favour: Ratio::clamped(favour),
                },
                look_ahead,
                window,
                limits: Limits {
                    burst,
                    acceptor_queue,
                    pending_queue,
                    class_queues,
                    discard_queues,
                    discard_periods,
                    deadlines: Deadlines::all(Span::from_millis(deadline)),
                    client_share: Ratio::clamped(client_share),
                },
                seed,
                ..Config::default()
            }
        },
    )
}

pub(crate) struct Driver {
    pub(crate) policy: Policy,
    pub(crate) now: Time,
    next: u64,
    capacity: Ratio,
    /// The class of each waiting request.
    pub(crate) waiting: HashMap<RequestId, ClassId>,
    /// Requests of new sessions, with the class they will turn out to have.
    unclassified: HashMap<RequestId, ClassId>,
    pub(crate) inside: Vec<RequestId>,
    /// Refusals since they were last taken out, with the class where the policy knew it.
    pub(crate) refused: Vec<(Option<ClassId>, Reason)>,
    /// Decisions about requests that had none coming.
    pub(crate) faults: Vec<Output>,
    pub(crate) log: Vec<(Time, Output)>,
    arrived: HashMap<RequestId, Time>,
    pub(crate) longest_wait: Span,
}

impl Driver {
    pub(crate) fn new(config: Config) -> Self {
        Self {
            policy: Policy::new(config).expect("the strategy makes sound configurations"),
            now: Time::from_nanos(1),
            next: 0,
            capacity: Ratio::ONE,
            waiting: HashMap::new(),
            unclassified: HashMap::new(),
            inside: Vec::new(),
            refused: Vec::new(),
            faults: Vec::new(),
            log: Vec::new(),
            arrived: HashMap::new(),
            longest_wait: Span::ZERO,
        }
    }

    pub(crate) fn apply(&mut self, op: Op) {
        match op {
            Op::Arrive { class, known, client } => self.arrive(class, known, client),
            Op::Cycle => self.tell(Input::Cycle),
            Op::Wait(millis) => {
                self.now += Span::from_millis(millis);
                // Time passes; all of the server is there, as before.
                self.tell(Input::Capacity(self.capacity));
            }
            Op::Finish(n) if !self.inside.is_empty() => {
                let id = self.inside.swap_remove(n % self.inside.len());
                self.tell(Input::Finished { id });
            }
            Op::Abort(n) => self.abort(n),
            Op::Knobs(differentiation, favour) => self.tell(Input::Knobs(Knobs {
                differentiation: Ratio::clamped(differentiation),
                favour: Ratio::clamped(favour),
            })),
            Op::Pressure(used) => self.tell(Input::Pressure(Ratio::clamped(used))),
            Op::Capacity(share) => {
                self.capacity = Ratio::clamped(share);
                self.tell(Input::Capacity(self.capacity));
            }
            Op::Finish(_) => {}
        }
    }

    /// Lets everything that is held end: nothing arrives, the server goes on.
    pub(crate) fn drain(&mut self) {
        self.tell(Input::Pressure(Ratio::ZERO));
        for _ in 0..100_000 {
            if self.policy.held() == 0 {
                return;
            }
            let wake = self.policy.next_wake(self.now);
            if wake != Time::NEVER {
                self.now = self.now.max(wake);
            }
            self.tell(Input::Cycle);
            if let Some(id) = self.inside.pop() {
                self.tell(Input::Finished { id });
            }
        }
    }

    fn arrive(&mut self, class: u8, known: bool, client: u64) {
        let class = ClassId(class.min(self.policy.config().classes.len() as u8 - 1));
        let id = RequestId(self.next);
        self.next += 1;
        self.waiting.insert(id, class);
        self.arrived.insert(id, self.now);
        let session = if known {
            SessionHint::Known(class)
        } else {
            self.unclassified.insert(id, class);
            SessionHint::New
        };
        self.tell(Input::Arrived { id, session, client, kind: Kind(id.0 % 5) });
    }

    /// A client leaves: one that waits is forgotten, one that is served keeps its place.
    fn abort(&mut self, n: usize) {
        let mut ids: Vec<RequestId> = self.waiting.keys().chain(&self.inside).copied().collect();
        ids.sort();
        if ids.is_empty() {
            return;
        }
        let id = ids[n % ids.len()];
        self.waiting.remove(&id);
        self.tell(Input::Aborted { id });
    }

    /// Another configuration, which must have as many classes.
    pub(crate) fn reconfigure(&mut self, config: Config) {
        self.policy.reconfigure(self.now, config).expect("sound, and as many classes");
        self.carry_out();
    }

    fn tell(&mut self, input: Input) {
        self.policy.handle(self.now, input);
        self.carry_out();
    }

    fn carry_out(&mut self) {
        while let Some(output) = self.policy.poll() {
            self.log.push((self.now, output));
            match output {
                Output::Classify(id) => match self.unclassified.remove(&id) {
                    Some(class) => self.policy.handle(self.now, Input::Classified { id, class }),
                    None => self.faults.push(output),
                },
                Output::Dispatch(id) => match self.waiting.remove(&id) {
                    Some(_) => {
                        self.inside.push(id);
                        self.longest_wait = self.longest_wait.max(self.now.since(self.arrived[&id]));
                    }
                    None => self.faults.push(output),
                },
                Output::Reject(id, reason) => match self.waiting.remove(&id) {
                    Some(class) => {
                        let known = self.unclassified.remove(&id).is_none();
                        self.refused.push((known.then_some(class), reason));
                    }
                    None => self.faults.push(output),
                },
            }
        }
    }
}
