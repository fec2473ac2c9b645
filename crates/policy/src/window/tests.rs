//! Servers of several kinds, all saturated: what a window finds, and what it costs to look for it.

use alloc::vec::Vec;

use fastrand::Rng;
use units::Span;

use super::*;

/// How requests that are inside get on.
#[derive(Debug, Clone, Copy)]
enum Server {
    /// So many processors, shared by all inside.
    Sharing(u32),
    /// One thing at a time, in order, as an event loop does.
    Loop,
    /// So many workers that each wait for something else; others queue.
    Workers(u32),
}

/// What requests cost: mean service time, and how it varies.
#[derive(Debug, Clone, Copy)]
enum Demand {
    Equal,
    Exponential,
    /// Nine of ten cost a hundredth of what the tenth does.
    FewHeavy,
}

impl Demand {
    fn draw(self, mean: f64, rng: &mut Rng) -> f64 {
        match self {
            Self::Equal => mean,
            Self::Exponential => -mean * (1.0 - rng.f64()).ln(),
            Self::FewHeavy => mean * if rng.u32(0..10) == 0 { 9.174 } else { 0.09174 },
        }
    }
}

#[derive(Debug)]
struct Inside {
    dispatched: Time,
    /// Seconds that it is on its way to the server and back, when nothing of the server is needed.
    apart: f64,
    left: f64,
}

/// A server that always has more to do, and what it has done.
#[derive(Debug)]
struct Scene {
    places: Places,
    server: Server,
    demand: Demand,
    mean: f64,
    /// Mean time that a request is inside and needs nothing of the server.
    apart: f64,
    inside: Vec<Inside>,
    now: Time,
    rng: Rng,
}

/// Requests finished per second, and the mean size of the window over time.
#[derive(Debug, Clone, Copy)]
struct Outcome {
    rate: f64,
    size: f64,
}

impl Scene {
    fn new(window: Window, server: Server, demand: Demand) -> Self {
        Self {
            places: Places::new(window),
            server,
            demand,
            mean: 0.01,
            apart: 0.0,
            inside: Vec::new(),
            now: Time::ZERO,
            rng: Rng::with_seed(7),
        }
    }

    fn run(&mut self, requests: u32) -> Outcome {
        let (began, mut size) = (self.now, 0.0);
        for _ in 0..requests {
            while self.places.free(0) > 0 {
                self.places.take(self.now);
                let apart = Demand::Exponential.draw(self.apart, &mut self.rng);
                let left = self.demand.draw(self.mean, &mut self.rng);
                self.inside.push(Inside { dispatched: self.now, apart, left });
            }
            let before = self.now;
            let dispatched = self.advance();
            size += f64::from(self.places.size()) * self.now.since(before).as_secs_f64();
            self.places.give_back(self.now, dispatched);
        }
        let seconds = self.now.since(began).as_secs_f64();
        Outcome { rate: f64::from(requests) / seconds, size: size / seconds }
    }

    /// Goes on until the next request is done; gives when it was dispatched.
    fn advance(&mut self) -> Time {
        loop {
            let speeds = self.speeds();
            let ends = |one: &Inside, speed: f64| {
                if one.apart > 0.0 { one.apart } else { one.left / speed }
            };
            let times = self.inside.iter().zip(&speeds).map(|(one, speed)| ends(one, *speed));
            let next = times.fold(f64::INFINITY, f64::min);
            for (one, speed) in self.inside.iter_mut().zip(&speeds) {
                if one.apart > 0.0 {
                    one.apart = if one.apart - next <= 1e-12 { 0.0 } else { one.apart - next };
                } else {
                    one.left -= next * speed;
                }
            }
            self.now += Span::from_secs(1).mul_f64(next);
            if let Some(done) = self.inside.iter().position(|one| one.apart == 0.0 && one.left <= 1e-12) {
                return self.inside.remove(done).dispatched;
            }
        }
    }

    /// How fast each of those inside is worked on.
    fn speeds(&self) -> Vec<f64> {
        let there = self.inside.iter().filter(|one| one.apart == 0.0).count();
        let mut before = 0;
        let speeds = self.inside.iter().map(|one| {
            if one.apart > 0.0 {
                return 0.0;
            }
            before += 1;
            match self.server {
                Server::Sharing(processors) => (f64::from(processors) / there as f64).min(1.0),
                Server::Loop => f64::from(u8::from(before == 1)),
                Server::Workers(workers) => f64::from(u8::from(before <= workers)),
            }
        });
        speeds.collect()
    }
}

fn adaptive(initial: u32) -> Window {
    Window::Adaptive { initial, min: 1, max: 256 }
}

const KINDS: [(Server, u32); 7] = [
    (Server::Loop, 1),
    (Server::Sharing(1), 1),
    (Server::Sharing(2), 2),
    (Server::Sharing(8), 8),
    (Server::Workers(4), 4),
    (Server::Workers(16), 16),
    (Server::Workers(64), 64),
];

#[test]
fn it_finds_how_much_a_server_can_do_at_once() {
    for (server, knee) in KINDS {
        for demand in [Demand::Equal, Demand::Exponential, Demand::FewHeavy] {
            for initial in [1, 8, 100] {
                let mut scene = Scene::new(adaptive(initial), server, demand);
                scene.run(15_000);
                let found = scene.run(15_000);
                let share = found.rate * scene.mean / f64::from(knee);
                assert!(share > 0.87, "{server:?} {demand:?} from {initial}: {share} of what it can do");
                // Where one in ten takes ten times as long as the others all together, it takes
                // longer than this to come down to a few places.
                let left = if matches!(demand, Demand::FewHeavy) { initial } else { 0 };
                let most = 1.5 * f64::from(knee) + f64::from(left) + 4.0;
                assert!(found.size < most, "{server:?} {demand:?} from {initial}: {}", found.size);
            }
        }
    }
}

#[test]
fn it_is_found_soon() {
    for (server, knee) in KINDS {
        for demand in [Demand::Equal, Demand::Exponential] {
            let mut scene = Scene::new(adaptive(8), server, demand);
            let is_near = |size: u32| size <= 2 * knee && 2 * size >= knee;
            let mut requests = 0;
            while !is_near(scene.places.search.found()) {
                scene.run(100);
                requests += 100;
                assert!(requests < 2500, "{server:?} {demand:?}: {}", scene.places.search.found());
            }
        }
    }
}

#[test]
fn what_is_on_its_way_does_not_leave_the_server_idle() {
    for (server, demand) in [
        (Server::Loop, Demand::Equal),
        (Server::Loop, Demand::Exponential),
        (Server::Sharing(1), Demand::Exponential),
    ] {
        for apart in [0.5, 1.0, 3.0] {
            let mut scene = Scene { apart: 0.01 * apart, ..Scene::new(adaptive(8), server, demand) };
            scene.run(10_000);
            let found = scene.run(10_000);
            assert!(found.rate > 88.0, "{server:?} {demand:?} {apart}: {found:?}");
            assert!(found.size < 3.0 * (1.0 + apart), "{server:?} {demand:?} {apart}: {found:?}");
        }
    }
}

#[test]
fn it_does_not_collapse_when_the_work_changes() {
    for demand in [Demand::Equal, Demand::Exponential, Demand::FewHeavy] {
        let mut scene = Scene::new(adaptive(8), Server::Workers(16), demand);
        scene.run(30_000);
        for round in 0..40 {
            // For times that have nothing to do with the length of trials.
            scene.mean = if round % 2 == 0 { 0.2 } else { 0.01 };
            for _ in 0..7 {
                scene.run(100);
                let size = scene.places.search.found();
                assert!(size >= 8, "{demand:?}: {size} in round {round}");
            }
        }
    }
}

#[test]
fn one_size_is_left_alone() {
    let mut scene = Scene::new(Window::Adaptive { initial: 5, min: 5, max: 5 }, Server::Loop, Demand::Equal);
    scene.run(1000);
    assert_eq!(scene.places.size(), 5);
}

#[test]
fn bounds_are_kept() {
    for (server, bound) in [(Server::Loop, 3), (Server::Workers(100), 11)] {
        let window = Window::Adaptive { initial: 6, min: 3, max: 11 };
        let mut scene = Scene::new(window, server, Demand::Exponential);
        scene.run(10_000);
        let found = scene.run(10_000).size;
        assert!((3.0..=11.0).contains(&found), "{server:?}: {found}");
        assert!((found - f64::from(bound)).abs() < 2.0, "{server:?}: {found}");
    }
}

#[test]
fn an_idle_server_teaches_nothing() {
    let mut places = Places::new(adaptive(8));
    let mut now = Time::ZERO;
    for _ in 0..10_000 {
        places.take(now);
        let dispatched = now;
        now += Span::from_millis(10);
        places.give_back(now, dispatched);
    }
    assert_eq!(places.size(), 8);
}

#[test]
fn a_window_is_for_the_servers_that_are_there() {
    let half = Ratio::clamped(0.5);
    let mut fixed = Places::new(Window::Fixed(9));
    fixed.set_capacity(Time::ZERO, half);
    assert_eq!(fixed.size(), 5);
    fixed.set_capacity(Time::ZERO, Ratio::ZERO);
    assert_eq!(fixed.size(), 1);
    fixed.set_capacity(Time::ZERO, Ratio::ONE);
    assert_eq!(fixed.size(), 9);
    let mut places = Places::new(Window::Adaptive { initial: 16, min: 2, max: 64 });
    for (share, size) in [(half, 8), (Ratio::clamped(0.25), 4), (Ratio::ONE, 16)] {
        places.set_capacity(Time::ZERO, share);
        assert_eq!(places.size(), size);
    }
    places.set_capacity(Time::ZERO, Ratio::clamped(0.01));
    assert_eq!(places.size(), 2);
}
