//! The waiting room on virtual time: visitors that come back as told, a server that takes so long for each, and who is
//! let in when.
#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use policy::{
    Arrival, Config, Deadlines, Decision, Driver, Handler, Kind, KnownSession, Limits, Policy, Reason,
    SessionHint, Ticket, Visit, Waits, Window,
};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use units::{ClassId, Ratio, RequestId, SessionId, Span, Time};

/// Who comes, and how the server does.
#[derive(Debug, Clone, Copy)]
struct World {
    seed: u64,
    /// Visitors per second who come for the first time, for so many seconds.
    rate: f64,
    seconds: f64,
    /// Seconds that the server takes for one, of `places` at once.
    service: f64,
    places: u32,
    /// How much later than told they come, as a part of what they were told.
    late: f64,
    /// The part that gives up each time.
    gives_up: f64,
    /// Of those who come, clients that keep no token.
    forgetful: f64,
}

const STEADY: World = World {
    seed: 1,
    rate: 20.0,
    seconds: 60.0,
    service: 0.2,
    places: 2,
    late: 0.1,
    gives_up: 0.0,
    forgetful: 0.0,
};

#[derive(Debug, Clone, Default)]
struct Visitor {
    visit: Option<Visit>,
    forgets: bool,
    /// When each ticket was given, and what it said.
    tickets: Vec<(Time, Ticket)>,
    let_in: Option<Time>,
    gave_up: bool,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Comes(usize),
    Done(RequestId),
    Cycle,
}

#[derive(Default)]
struct Told {
    decided: Vec<(RequestId, usize, Decision)>,
    placed: Vec<(usize, Ticket)>,
}

impl Handler<usize> for Told {
    fn classify(&mut self, number: &mut usize) -> ClassId {
        ClassId(u8::from(*number % 1000 != 999))
    }

    fn decided(&mut self, _: Time, id: RequestId, number: &mut usize, decision: Decision, _: Waits) {
        self.decided.push((id, *number, decision));
    }

    fn placed(&mut self, number: &mut usize, ticket: Ticket) {
        self.placed.push((*number, ticket));
    }
}

struct Scene {
    world: World,
    driver: Driver<usize>,
    told: Told,
    now: Time,
    events: BinaryHeap<Reverse<(Time, Event)>>,
    visitors: Vec<Visitor>,
    rng: fastrand::Rng,
    refused_with_session: usize,
    /// When the next cycle is.
    wake: Time,
}

fn config(world: World) -> Config {
    Config {
        window: Window::Fixed(world.places),
        limits: Limits { deadlines: Deadlines::all(Span::from_secs(4)), ..Limits::default() },
        seed: world.seed,
        ..Config::default()
    }
}

impl Scene {
    fn new(world: World) -> Self {
        let mut scene = Self {
            world,
            driver: Driver::new(Policy::new(config(world)).unwrap()),
            told: Told::default(),
            now: Time::ZERO + Span::from_secs(1_000_000),
            events: BinaryHeap::new(),
            visitors: Vec::new(),
            rng: fastrand::Rng::with_seed(world.seed),
            refused_with_session: 0,
            wake: Time::ZERO,
        };
        let mut after = 0.0;
        while after < world.seconds {
            let forgets = scene.rng.f64() < world.forgetful;
            scene.comes(after, Visitor { forgets, ..Visitor::default() });
            after += -(1.0 - scene.rng.f64()).ln() / world.rate;
        }
        scene
    }

    fn comes(&mut self, after: f64, visitor: Visitor) {
        self.visitors.push(visitor);
        self.at(after, Event::Comes(self.visitors.len() - 1));
    }

    fn at(&mut self, after: f64, event: Event) {
        self.events.push(Reverse((self.now + Span::from_secs_f64(after), event)));
    }

    fn run(&mut self, seconds: f64) {
        let end = self.now + Span::from_secs_f64(seconds);
        while let Some(Reverse((time, event))) = self.events.pop() {
            if time > end || time == Time::NEVER {
                self.events.push(Reverse((time, event)));
                break;
            }
            self.now = time;
            match event {
                Event::Comes(number) => {
                    let visitor = &mut self.visitors[number];
                    let visit = *visitor.visit.get_or_insert(Visit::begin(SessionId(number as u64), time));
                    let arrival = Arrival {
                        session: SessionHint::Visitor(visit),
                        client: number as u64,
                        kind: Kind::default(),
                    };
                    self.driver.arrive(time, arrival, number, &mut self.told);
                }
                Event::Done(id) => drop(self.driver.finish(time, id, &mut self.told)),
                Event::Cycle => {}
            }
            let wake = self.driver.turn(time, 7, &mut self.told).max(time + Span::from_millis(1));
            if wake < self.wake || self.wake <= time {
                self.wake = wake;
                self.events.push(Reverse((wake, Event::Cycle)));
            }
            self.carry_out();
        }
        self.now = end;
    }

    fn carry_out(&mut self) {
        for (number, ticket) in std::mem::take(&mut self.told.placed) {
            let visitor = &mut self.visitors[number];
            visitor.tickets.push((self.now, ticket));
            visitor.visit = Some(ticket.visit).filter(|_| !visitor.forgets);
        }
        for (id, number, decision) in std::mem::take(&mut self.told.decided) {
            if decision == Decision::Dispatch {
                if let Some(visitor) = self.visitors.get_mut(number) {
                    visitor.let_in.get_or_insert(self.now);
                }
                self.at(self.world.service, Event::Done(id));
                continue;
            }
            self.driver.finish(self.now, id, &mut self.told);
            let Some(visitor) = self.visitors.get_mut(number) else {
                self.refused_with_session += 1;
                continue;
            };
            if self.rng.f64() < self.world.gives_up {
                visitor.gave_up = true;
                continue;
            }
            let told = f64::from(visitor.tickets.last().unwrap().1.seconds);
            let late = self.rng.f64() * self.world.late;
            self.at(told * (1.0 + late), Event::Comes(number));
        }
    }

    /// Of those that kept coming, by first visit: how many who came later were let in before each.
    fn overtaken(&self) -> Vec<usize> {
        let kept = |visitor: &&Visitor| !visitor.forgets && !visitor.gave_up;
        let let_in: Vec<Time> =
            self.visitors.iter().filter(kept).map(|visitor| visitor.let_in.unwrap_or(Time::NEVER)).collect();
        let later = |index: usize| let_in[index + 1..].iter().filter(|time| **time < let_in[index]).count();
        (0..let_in.len()).map(later).collect()
    }

    /// How many may go before one who came earlier: who comes later than told is passed by those who are let in
    /// meanwhile.
    fn tolerated(&self) -> f64 {
        let tickets = self.visitors.iter().flat_map(|visitor| &visitor.tickets);
        let longest = tickets.map(|(_, ticket)| f64::from(ticket.seconds)).fold(0.0, f64::max);
        let World { late, places, .. } = self.world;
        (TOLERANCE + late * longest) * self.capacity() + 4.0 * f64::from(places) + 8.0
    }

    fn room(&self) -> policy::RoomSnapshot {
        self.driver.policy().class_snapshots().nth(1).unwrap().room
    }

    fn capacity(&self) -> f64 {
        f64::from(self.world.places) / self.world.service
    }
}

/// What is let in out of turn, stated: those who come back within the few seconds that it takes the called to come and
/// to pass through admission.
const TOLERANCE: f64 = 4.0;

#[test]
fn who_came_first_is_let_in_first_and_all_capacity_is_used() {
    let mut scene = Scene::new(STEADY);
    scene.run(200.0);
    let overtaken = scene.overtaken();
    let most = overtaken.iter().max().unwrap();
    assert!(*most as f64 <= TOLERANCE * scene.capacity(), "{most} went before one who came earlier");
    let last = scene.visitors.iter().filter_map(|visitor| visitor.let_in).max().unwrap();
    assert!(scene.visitors.iter().all(|visitor| visitor.let_in.is_some()), "all were let in");
    let least = scene.visitors.len() as f64 / scene.capacity();
    let took = last.since(Time::ZERO + Span::from_secs(1_000_000)).as_secs_f64();
    assert!(took < 1.1 * least, "{took} s for what takes {least}");
    assert_eq!(scene.room().waiting, 0);
}

/// A client that does not keep its token leaves a place behind that no client comes for.
#[test]
fn clients_that_keep_no_token_leave_the_server_with_work() {
    for (service, places, rate, forgetful) in [(0.2, 3, 50.0, 1.0), (0.2, 3, 50.0, 0.9), (0.5, 1, 10.0, 1.0)]
    {
        let mut scene = Scene::new(World { seconds: 60.0, service, places, rate, forgetful, ..STEADY });
        scene.run(60.0);
        let dispatched = scene.driver.policy().class_snapshots().nth(1).unwrap().counters.dispatched as f64;
        let most = 60.0 * scene.capacity();
        assert!(dispatched > 0.85 * most, "{:?}: {dispatched} of {most}", scene.world);
        scene.run(600.0);
        let kept = scene.visitors.iter().filter(|visitor| !visitor.forgets);
        assert_eq!(kept.filter(|visitor| visitor.let_in.is_none()).count(), 0, "{:?}", scene.world);
    }
}

/// As when a sale opens: what tells the first of a crowd from its last is less than what the gate keeps of times, and
/// of no interest to anybody. But all are to get in.
#[test]
fn a_crowd_that_comes_at_once_is_let_in_as_fast_as_any() {
    const CROWD: u32 = 80;
    // From when on they come, within how long, and how long after the first half the second one comes; in ms.
    let crowds =
        [(0, 3, 0), (30, 5, 0), (57, 5, 0), (61, 1, 0), (5, 40, 0), (40, 200, 0), (1, 2, 50), (2, 2, 3000)];
    let worlds = [(0.5, 1, 0.1, 0.0), (0.05, 2, 0.1, 0.0), (0.5, 1, 0.3, 0.0), (0.5, 1, 0.1, 0.1)];
    for ((from, within, gap), (service, places, late, gives_up)) in
        crowds.into_iter().flat_map(|crowd| worlds.map(|world| (crowd, world)))
    {
        let mut scene = Scene::new(World { seconds: 0.0, service, places, late, gives_up, ..STEADY });
        // One is there long before them, for times as short as these.
        scene.comes(0.0, Visitor::default());
        for number in 0..CROWD {
            let part = f64::from(number) / f64::from(CROWD);
            let after = f64::from(from) + part * f64::from(within) + f64::from(gap) * (2.0 * part).floor();
            scene.comes(after / 1000.0, Visitor::default());
        }
        scene.run(300.0);
        let what = format!("{from} ms, {within} ms, {gap} ms, {:?}", scene.world);
        let began = Time::ZERO + Span::from_secs(1_000_000);
        let kept: Vec<&Visitor> = scene.visitors.iter().filter(|visitor| !visitor.gave_up).collect();
        let last = kept.iter().map(|visitor| visitor.let_in.unwrap_or(Time::NEVER)).max().unwrap();
        let (took, least) = (last.since(began).as_secs_f64(), kept.len() as f64 / scene.capacity());
        assert!(took < 1.1 * least + 3.0, "{what}: {took} s for what takes {least}");
    }
}

#[test]
fn the_place_told_never_rises_and_the_time_is_right() {
    let mut scene = Scene::new(STEADY);
    scene.run(200.0);
    let began = Time::ZERO + Span::from_secs(1_000_000);
    let (mut told, mut wrong) = (0, 0);
    for visitor in &scene.visitors {
        assert!(visitor.tickets.is_sorted_by(|(_, a), (_, b)| a.place >= b.place), "{visitor:?}");
        for (time, ticket) in &visitor.tickets {
            // Once it has been measured for a while; of short waits the class's own queue is a large part.
            let wait = ticket.wait.filter(|wait| *wait > Span::from_secs(10));
            let Some(wait) = wait.filter(|_| time.since(began) > Span::from_secs(20)) else { continue };
            let real = visitor.let_in.unwrap().since(*time).as_secs_f64();
            told += 1;
            wrong += u32::from(!(0.67..1.5).contains(&(real / wait.as_secs_f64())));
        }
    }
    assert!(told > 1000 && wrong * 50 < told, "{wrong} of {told} were off by more than a factor of 1.5");
}

#[test]
fn who_comes_when_all_are_inside_does_not_wait() {
    let mut scene = Scene::new(World { seconds: 10.0, rate: 40.0, ..STEADY });
    scene.run(100.0);
    scene.comes(0.0, Visitor::default());
    scene.run(10.0);
    assert_eq!(scene.visitors.last().unwrap().tickets, []);
    // A place that was not used while its room was open is worth nothing the next time.
    let (first, old) = (scene.visitors[0].clone(), scene.visitors[300].visit);
    assert!(first.let_in.is_some() && old.unwrap().told.is_some());
    let crowd = scene.visitors.len();
    for number in 0..400 {
        scene.comes(f64::from(number) / 40.0, Visitor::default());
    }
    scene.comes(9.0, Visitor { visit: old, ..Visitor::default() });
    scene.run(9.5);
    let ticket = scene.visitors.last().unwrap().tickets[0].1;
    assert!(ticket.place > 100, "{ticket:?}");
    scene.run(100.0);
    assert!(scene.visitors[crowd..].iter().all(|visitor| visitor.let_in.is_some()));
}

#[test]
fn a_gate_that_begins_anew_honours_what_tokens_say() {
    let mut scene = Scene::new(World { seconds: 20.0, ..STEADY });
    scene.run(21.0);
    assert!(scene.room().waiting > 50, "{:?}", scene.room());
    // What was inside the gate is lost with it, and its clients ask again.
    let lost: Vec<usize> = scene.driver.iter().map(|(_, number)| *number).collect();
    scene.driver = Driver::new(Policy::new(config(scene.world)).unwrap());
    scene.events.retain(|Reverse((_, event))| matches!(event, Event::Comes(_)));
    lost.into_iter().for_each(|number| scene.at(0.5, Event::Comes(number)));
    // New ones come as well.
    let from = scene.visitors.len();
    for number in 0..200 {
        scene.comes(f64::from(number) / 20.0, Visitor::default());
    }
    scene.run(120.0);
    assert!(scene.visitors.iter().all(|visitor| visitor.let_in.is_some()));
    let mean = |visitors: &[Visitor]| {
        let times =
            visitors.iter().filter_map(|visitor| visitor.let_in).map(|time| time.as_nanos() as f64 / 1e9);
        times.sum::<f64>() / visitors.len() as f64
    };
    // Until the line is known again, which takes as long as the first took to come back, others pass.
    let overtaken = scene.overtaken();
    let most = overtaken[..from].iter().max().unwrap();
    assert!((*most as f64) < 16.0 * scene.capacity(), "{most} of 200 went before one who had waited");
    assert!(mean(&scene.visitors[from - 100..from]) + 5.0 < mean(&scene.visitors[from..]));
}

#[test]
fn sessions_that_are_there_and_other_classes_never_wait_in_it() {
    let mut scene = Scene::new(World { seconds: 30.0, ..STEADY });
    scene.run(20.0);
    assert!(scene.room().waiting > 50);
    let known = KnownSession::active(SessionId(7), ClassId(1));
    let arrival = Arrival { session: SessionHint::Known(known), client: 1 << 40, kind: Kind::default() };
    scene.driver.arrive(scene.now, arrival, 1_000_000, &mut scene.told);
    // By the rules of this test the last of each thousand is of the first class.
    let important = Visit::begin(SessionId(9), scene.now);
    let arrival =
        Arrival { session: SessionHint::Visitor(important), client: 1 << 41, kind: Kind::default() };
    scene.driver.arrive(scene.now, arrival, 999_999, &mut scene.told);
    scene.run(10.0);
    assert_eq!(scene.refused_with_session, 0);
    let rooms: Vec<u32> = scene.driver.policy().class_snapshots().map(|class| class.room.waiting).collect();
    assert_eq!(rooms[0], 0);
}

#[test]
fn visitors_who_do_not_say_so_have_no_place() {
    let mut scene = Scene::new(World { seconds: 0.01, rate: 1.0, ..STEADY });
    for number in 0..1000 {
        let arrival = Arrival { session: SessionHint::New, client: number, kind: Kind::default() };
        scene.driver.arrive(scene.now, arrival, 1_000_000, &mut scene.told);
    }
    scene.run(20.0);
    assert!(scene.refused_with_session > 0 && scene.told.placed.is_empty());
    let rejected = scene.driver.policy().class_snapshots().nth(1).unwrap().counters.rejected;
    assert_eq!(rejected[Reason::WaitingRoom.index()], 0);
}

proptest! {
    // The bounds are statistical ones: the same worlds each time.
    #![proptest_config(ProptestConfig { cases: 24, rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]

    /// Whatever part gives up, comes late or keeps no token: the others are let in in order, the server has work,
    /// and places do not rise.
    #[test]
    fn order_holds_whoever_else_comes(
        seed in any::<u64>(),
        overload in 2.0..6.0f64,
        service in 0.02..0.5f64,
        places in 1..6u32,
        late in 0.0..0.3f64,
        gives_up in 0.0..0.1f64,
        forgetful in 0.0..0.4f64,
    ) {
        let capacity = f64::from(places) / service;
        let seconds = (600.0 / capacity).clamp(10.0, 60.0);
        let world = World { seed, rate: overload * capacity, seconds, service, places, late, gives_up, forgetful };
        let mut scene = Scene::new(world);
        scene.run(seconds);
        let busy = scene.driver.policy().class_snapshots().nth(1).unwrap().counters.dispatched as f64;
        // Where places are few, those who are called and do not come leave some of them empty.
        prop_assert!(busy > 0.6 * (seconds - 2.0) * capacity, "{} of {}", busy, seconds * capacity);
        scene.run(30.0 * seconds + 100.0);
        let overtaken = scene.overtaken();
        let most = *overtaken.iter().max().unwrap();
        let tolerated = scene.tolerated();
        prop_assert!(most as f64 <= tolerated, "{} went before one who came earlier, {}", most, tolerated);
        for visitor in scene.visitors.iter().filter(|visitor| !visitor.forgets) {
            prop_assert!(visitor.gave_up || visitor.let_in.is_some(), "{:?}", visitor);
            prop_assert!(visitor.tickets.is_sorted_by(|(_, a), (_, b)| a.place >= b.place), "{:?}", visitor);
            for (_, ticket) in &visitor.tickets {
                prop_assert!((2..=60).contains(&ticket.seconds), "{:?}", ticket);
            }
        }
    }
}

#[test]
fn the_gate_s_memory_does_not_grow_with_visitors() {
    // Many who never come back, over hours, so that the line is as long in time as it gets.
    let mut scene = Scene::new(World { seconds: 0.01, rate: 1.0, ..STEADY });
    let ask = |scene: &mut Scene, from: u64, visitors: u64| {
        for number in from..from + visitors {
            scene.now += Span::from_millis(50);
            let visit = Visit::begin(SessionId(number), scene.now);
            let arrival =
                Arrival { session: SessionHint::Visitor(visit), client: number % 500, kind: Kind::default() };
            scene.driver.arrive(scene.now, arrival, 1_000_000, &mut scene.told);
            scene.driver.turn(scene.now, 7, &mut scene.told);
            scene.told.placed.clear();
            for (id, ..) in
                scene.told.decided.drain(..).filter(|(.., decision)| *decision != Decision::Dispatch)
            {
                scene.events.push(Reverse((scene.now, Event::Done(id))));
            }
            while let Some(Reverse((_, Event::Done(id)))) = scene.events.pop() {
                scene.driver.finish(scene.now, id, &mut scene.told);
            }
        }
    };
    scene.events.clear();
    ask(&mut scene, 0, 20_000);
    let counted = allocation_counter::measure(|| ask(&mut scene, 20_000, 100_000));
    assert_eq!(counted.count_total, 0, "{counted:?}");
    assert!(scene.room().waiting > 10);
    assert_eq!(scene.driver.policy().config().limits.client_share, Ratio::ONE);
}
