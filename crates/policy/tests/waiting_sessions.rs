//! A waiting room before long sessions, on virtual time: who is let in can finish.
#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use policy::{
    Arrival, Config, Decision, Driver, Handler, Kind, KnownSession, Policy, SessionHint, Ticket, Visit,
    Waits, Window,
};
use units::{ClassId, RequestId, SessionId, Span, Time};

/// What the server takes for a page; it has two places.
const SERVICE: Span = Span::from_millis(50);
const PLACES: u32 = 2;
/// Pages per second that it can do.
const PAGES_A_SECOND: f64 = 40.0;

/// Who comes.
#[derive(Debug, Clone, Copy)]
struct World {
    /// Pages of a session.
    pages: u32,
    /// Mean pause of a reader, in seconds.
    pause: f64,
    /// So long a user waits for a page.
    patience: Span,
    /// How many times as many as the server can do begin.
    times: f64,
    /// Whether every second leaves after the first page.
    half_leave: bool,
}

impl World {
    /// Sessions per second that the server can do.
    fn capacity(self) -> f64 {
        PAGES_A_SECOND / f64::from(self.pages + u32::from(self.half_leave))
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct User {
    /// Its place outside.
    visit: Option<Visit>,
    pages: u32,
    /// How long it was told to stay away.
    told: u16,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Ask(usize),
    GiveUp(usize, RequestId),
    Done(usize, RequestId),
}

#[derive(Default)]
struct Told {
    decided: Vec<(RequestId, usize, Decision)>,
    placed: Vec<(usize, Ticket)>,
}

impl Handler<usize> for Told {
    fn classify(&mut self, _: &mut usize) -> ClassId {
        ClassId(1)
    }

    fn decided(&mut self, _: Time, id: RequestId, user: &mut usize, decision: Decision, _: Waits) {
        self.decided.push((id, *user, decision));
    }

    fn placed(&mut self, user: &mut usize, ticket: Ticket) {
        self.placed.push((*user, ticket));
    }
}

/// What has become of sessions.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    completed: u32,
    /// Begun, and not finished.
    lost: u32,
}

struct Scene {
    world: World,
    driver: Driver<usize>,
    now: Time,
    events: BinaryHeap<Reverse<(Time, Event)>>,
    users: Vec<User>,
    under_way: HashMap<RequestId, usize>,
    told: Told,
    tally: Tally,
    rng: fastrand::Rng,
}

impl Scene {
    /// Users who come for so many seconds.
    fn new(world: World, seconds: f64) -> Self {
        let config = Config { window: Window::Fixed(PLACES), seed: 1, ..Config::default() };
        let mut scene = Self {
            world,
            driver: Driver::new(Policy::new(config).unwrap()),
            now: Time::ZERO + Span::from_secs(1_000_000),
            events: BinaryHeap::new(),
            users: Vec::new(),
            under_way: HashMap::new(),
            told: Told::default(),
            tally: Tally::default(),
            rng: fastrand::Rng::with_seed(1),
        };
        let mut after = 0.0;
        while after < seconds {
            scene.users.push(User::default());
            scene.at(Span::from_secs_f64(after), Event::Ask(scene.users.len() - 1));
            after += scene.exponential(1.0 / (world.times * world.capacity()));
        }
        scene
    }

    fn exponential(&mut self, mean: f64) -> f64 {
        -(1.0 - self.rng.f64()).ln() * mean
    }

    fn at(&mut self, after: Span, event: Event) {
        self.events.push(Reverse((self.now + after, event)));
    }

    /// What becomes of sessions in the next seconds.
    fn run(&mut self, seconds: f64) -> Tally {
        self.tally = Tally::default();
        let end = self.now + Span::from_secs_f64(seconds);
        loop {
            let next = self.events.peek().map_or(Time::NEVER, |Reverse((time, _))| *time);
            let wake = self.driver.next_wake(self.now);
            if next.min(wake) > end {
                self.now = end;
                return self.tally;
            }
            self.now = self.now.max(next.min(wake));
            if next <= wake {
                self.happen();
            }
            self.driver.cycle(self.now, &mut self.told);
            self.carry_out();
        }
    }

    fn happen(&mut self) {
        match self.events.pop().unwrap().0.1 {
            Event::Ask(number) => {
                let user = &mut self.users[number];
                let id = SessionId(number as u64);
                let session = if user.pages == 0 {
                    SessionHint::Visitor(*user.visit.get_or_insert(Visit::begin(id, self.now)))
                } else {
                    SessionHint::Known(KnownSession::active(id, ClassId(1)))
                };
                let arrival = Arrival { session, client: number as u64, kind: Kind::default() };
                let request = self.driver.arrive(self.now, arrival, number, &mut self.told);
                self.under_way.insert(request, number);
                self.at(self.world.patience, Event::GiveUp(number, request));
            }
            Event::GiveUp(number, request) => {
                if self.under_way.remove(&request).is_some() {
                    self.driver.abort(self.now, request, &mut self.told);
                    self.tally.lost += u32::from(self.users[number].pages > 0);
                }
            }
            Event::Done(number, request) => {
                self.driver.finish(self.now, request, &mut self.told);
                if self.under_way.remove(&request).is_some() {
                    self.has_read(number);
                }
            }
        }
    }

    fn has_read(&mut self, number: usize) {
        self.users[number].pages += 1;
        let World { pages, pause, half_leave, .. } = self.world;
        if half_leave && number.is_multiple_of(2) {
            return;
        }
        if self.users[number].pages == pages {
            self.tally.completed += 1;
        } else {
            let pause = self.exponential(pause);
            self.at(Span::from_secs_f64(pause), Event::Ask(number));
        }
    }

    fn carry_out(&mut self) {
        for (number, ticket) in std::mem::take(&mut self.told.placed) {
            let user = &mut self.users[number];
            (user.visit, user.told) = (Some(ticket.visit), ticket.seconds);
        }
        for (request, number, decision) in std::mem::take(&mut self.told.decided) {
            if decision == Decision::Dispatch {
                self.at(SERVICE, Event::Done(number, request));
                continue;
            }
            self.driver.finish(self.now, request, &mut self.told);
            if self.under_way.remove(&request).is_none() {
                continue;
            }
            let User { pages, told, .. } = self.users[number];
            if pages == 0 {
                self.at(Span::from_secs(u64::from(told)), Event::Ask(number));
            } else {
                self.tally.lost += 1;
            }
        }
    }
}

/// Of what the server can do, how much comes of those who come to the end, and the part of those who begin that do not.
fn outcome(world: World) -> (f64, f64) {
    const BEFORE: f64 = 400.0;
    const COUNTED: f64 = 180.0;
    let mut scene = Scene::new(world, BEFORE + COUNTED);
    scene.run(BEFORE);
    let Tally { completed, lost } = scene.run(COUNTED);
    (
        f64::from(completed) / (COUNTED * world.capacity()),
        f64::from(lost) / f64::from((completed + lost).max(1)),
    )
}

#[test]
fn who_is_let_in_can_finish() {
    let world = |pages, pause, patience, times, half_leave| World {
        pages,
        pause,
        patience: Span::from_secs(patience),
        times,
        half_leave,
    };
    for world in [
        world(10, 2.0, 5, 1.5, false),
        world(10, 2.0, 5, 5.0, false),
        world(40, 1.0, 2, 5.0, false),
        world(40, 4.0, 3, 5.0, false),
        world(40, 1.0, 2, 5.0, true),
    ] {
        let (completed, lost) = outcome(world);
        assert!(completed > 0.8, "{world:?}: {completed} of what the server can do");
        assert!(lost < 0.3, "{world:?}: {lost} of those who begin");
    }
}
