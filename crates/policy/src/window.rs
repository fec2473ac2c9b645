//! Stage 8, the window: how many requests may be inside the server.

use units::{Ratio, Span, Time};

use crate::ConfigError;

/// How the number of requests inside the server is bounded. Without a bound the queue forms
/// inside the server, where nobody can put it in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Window {
    /// Always this many places.
    Fixed(u32),
    /// The server takes requests when it is free ([`crate::Input::Pull`]), never more than
    /// `most` at once.
    Pull {
        /// Bound on requests inside the server.
        most: u32,
    },
    /// Sized by how response time answers to the number of requests inside.
    Adaptive {
        /// Size at the start.
        initial: u32,
        /// Never smaller; at least 1.
        min: u32,
        /// Never larger.
        max: u32,
    },
}

impl Default for Window {
    fn default() -> Self {
        Self::Adaptive { initial: 8, min: 1, max: 256 }
    }
}

impl Window {
    pub(crate) fn check(self) -> Result<(), ConfigError> {
        match self {
            Self::Fixed(0) | Self::Pull { most: 0 } => Err(ConfigError::Zero("the window")),
            Self::Adaptive { initial, min, max } if min < 1 || min > initial || initial > max => {
                Err(ConfigError::Window { min, initial, max })
            }
            _ => Ok(()),
        }
    }

    /// The largest size it can take.
    pub(crate) fn largest(self) -> u32 {
        match self {
            Self::Fixed(size) | Self::Pull { most: size } | Self::Adaptive { max: size, .. } => size,
        }
    }
}

/// The window and what is inside it.
#[derive(Debug)]
pub(crate) struct Places {
    window: Window,
    taken: u32,
    /// Places the server has offered and not yet been given (pull only).
    offered: u32,
    given_back: Time,
    /// How much of the server is there.
    capacity: Ratio,
    search: Search,
}

impl Places {
    pub(crate) fn new(window: Window) -> Self {
        let (initial, min, max) = match window {
            Window::Fixed(size) | Window::Pull { most: size } => (size, size, size),
            Window::Adaptive { initial, min, max } => (initial, min, max),
        };
        let search = Search::new(initial, min, max);
        Self { window, taken: 0, offered: 0, given_back: Time::ZERO, capacity: Ratio::ONE, search }
    }

    /// Another window; what is inside stays. One that was adaptive and still is goes on from the
    /// size that it had found.
    pub(crate) fn reconfigure(&mut self, now: Time, window: Window) {
        if window == self.window {
            return;
        }
        let found = self.search.size;
        let adapted = matches!(self.window, Window::Adaptive { .. });
        let offered = self.offered.min(window.largest());
        let Self { taken, given_back, capacity, .. } = *self;
        *self = Self { taken, offered, given_back, capacity, ..Self::new(window) };
        if let (true, Window::Adaptive { min, max, .. }) = (adapted, window) {
            self.search.size = found.clamp(min, max);
        }
        self.search.phase = Phase { began: now, changed: now, ..Phase::default() };
    }

    /// So much of the server is there. A size that was found was right for what there was then.
    pub(crate) fn set_capacity(&mut self, now: Time, share: Ratio) {
        let before = core::mem::replace(&mut self.capacity, share);
        if share != before && before > Ratio::ZERO {
            let found = scaled(self.search.size, share.as_f64() / before.as_f64());
            self.search.size = found.clamp(self.search.min, self.search.max);
            self.search.smaller = None;
            self.search.phase = Phase { began: now, changed: now, ..Phase::default() };
        }
    }

    /// How many requests may be inside now.
    pub(crate) fn size(&self) -> u32 {
        match self.window {
            Window::Fixed(size) => scaled(size, self.capacity.as_f64()),
            Window::Pull { most: size } => size,
            Window::Adaptive { .. } => self.search.offered_size(),
        }
    }

    pub(crate) fn taken(&self) -> u32 {
        self.taken
    }

    /// When a place was last given back.
    pub(crate) fn given_back(&self) -> Time {
        self.given_back
    }

    /// Places free now when `express` are added on top. A server that takes requests itself has
    /// as many as it asked for, and nothing on top.
    pub(crate) fn free(&self, express: u32) -> u32 {
        match self.window {
            Window::Pull { most } => most.saturating_sub(self.taken).min(self.offered),
            _ => self.size().saturating_add(express).saturating_sub(self.taken),
        }
    }

    pub(crate) fn pull(&mut self, places: u32) {
        self.offered = self.offered.saturating_add(places).min(self.size());
    }

    pub(crate) fn take(&mut self, now: Time) {
        self.search.advance(now, self.taken);
        self.taken += 1;
        self.offered = self.offered.saturating_sub(1);
    }

    /// Gives back a place that was taken at `dispatched`.
    pub(crate) fn give_back(&mut self, now: Time, dispatched: Time) {
        self.search.advance(now, self.taken);
        self.taken = self.taken.saturating_sub(1);
        self.given_back = now;
        if matches!(self.window, Window::Adaptive { .. }) {
            self.search.finished(now, dispatched);
        }
    }
}

/// That much of a window, which has at least one place.
fn scaled(size: u32, share: f64) -> u32 {
    ((f64::from(size) * share + 0.5) as u32).max(1)
}

/// Looks for the smallest window that keeps the server busy.
///
/// It compares two neighbouring sizes in turn. Below the knee a larger window leaves response
/// time as it is; beyond it response time grows in proportion (Little's law at constant
/// throughput). So the elasticity `d ln R / d ln N`, 0 below and 1 beyond, tells the side. Only
/// phases next to each other in time are compared and a single comparison moves the window by
/// one step at most, so a change of the work mix cannot make it collapse, as it does when
/// response times are held against an old baseline.
#[derive(Debug)]
struct Search {
    size: u32,
    min: u32,
    max: u32,
    phase: Phase,
    smaller: Option<Sample>,
    /// Elasticity above one half, summed up until it is clear.
    evidence: f64,
}

#[derive(Debug, Clone, Copy)]
struct Sample {
    /// Mean number inside.
    inside: f64,
    /// Mean response time in seconds.
    response: f64,
}

#[derive(Debug, Clone, Copy, Default)]
struct Phase {
    began: Time,
    changed: Time,
    /// Integrals over time, in seconds.
    inside: f64,
    full: f64,
    responses: f64,
    finished: u32,
}

/// The distance between neighbouring sizes.
fn step(size: u32) -> u32 {
    (size / 4).max(1)
}

impl Search {
    const SHORTEST: Span = Span::from_millis(100);
    const FEWEST: u32 = 64;
    /// A window that was not filled says nothing about its size.
    const FILLED: f64 = 0.8;
    const CLEAR: f64 = 0.75;

    fn new(size: u32, min: u32, max: u32) -> Self {
        Self { size, min, max, phase: Phase::default(), smaller: None, evidence: 0.0 }
    }

    /// The two sizes compared: this one and the next, or, at the top, the one before and this.
    fn pair(&self) -> (u32, u32) {
        let larger = (self.size + step(self.size)).min(self.max);
        (larger.saturating_sub(step(self.size)).max(self.min), larger)
    }

    fn offered_size(&self) -> u32 {
        let (smaller, larger) = self.pair();
        if self.smaller.is_some() { larger } else { smaller }
    }

    /// Accounts for the time since the last change with `inside` requests in the server.
    fn advance(&mut self, now: Time, inside: u32) {
        let seconds = now.since(self.phase.changed).as_secs_f64();
        self.phase.changed = now;
        self.phase.inside += seconds * f64::from(inside);
        self.phase.full += if inside >= self.offered_size() { seconds } else { 0.0 };
    }

    fn finished(&mut self, now: Time, dispatched: Time) {
        // What began in the phase before was slowed or sped by its window, not by this one.
        if dispatched >= self.phase.began {
            self.phase.responses += now.since(dispatched).as_secs_f64();
            self.phase.finished += 1;
        }
        let length = now.since(self.phase.began);
        if self.phase.finished >= Self::FEWEST.max(2 * self.offered_size()) && length >= Self::SHORTEST {
            self.end_phase(now, length);
        }
    }

    fn end_phase(&mut self, now: Time, length: Span) {
        let seconds = length.as_secs_f64();
        let filled = self.phase.full >= Self::FILLED * seconds;
        let sample = Sample {
            inside: self.phase.inside / seconds,
            response: self.phase.responses / f64::from(self.phase.finished),
        };
        self.phase = Phase { began: now, changed: now, ..Phase::default() };
        self.smaller = match self.smaller {
            _ if !filled => None,
            None => Some(sample),
            Some(smaller) => {
                self.compare(smaller, sample);
                None
            }
        };
    }

    fn compare(&mut self, smaller: Sample, larger: Sample) {
        let grown = larger.inside / smaller.inside - 1.0;
        if grown <= 0.0 || smaller.response <= 0.0 {
            return;
        }
        let elasticity = (larger.response / smaller.response - 1.0) / grown;
        self.evidence += (elasticity - 0.5).clamp(-0.5, 0.5);
        if self.evidence.abs() < Self::CLEAR {
            return;
        }
        let size = if self.evidence > 0.0 {
            self.size.saturating_sub(step(self.size))
        } else {
            self.size + step(self.size)
        };
        self.size = size.clamp(self.min, self.max);
        self.evidence = 0.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    /// A saturated server: up to `knee` requests take `service` each; beyond it they share.
    fn run(places: &mut Places, mut now: Time, knee: u32, service: Span, requests: u32) -> Time {
        let mut inside: Vec<Time> = Vec::new();
        for n in 0..requests {
            while places.free(0) > 0 {
                places.take(now);
                inside.push(now);
            }
            let speed = f64::from(knee.min(inside.len() as u32));
            // Alternating demands, so that responses differ.
            let demand = service.mul_f64(if n % 2 == 0 { 0.5 } else { 1.5 });
            now += demand.mul_f64(1.0 / speed);
            places.give_back(now, inside.remove(0));
        }
        for dispatched in inside {
            places.give_back(now, dispatched);
        }
        now
    }

    #[test]
    fn it_finds_the_knee_from_below_and_above() {
        for initial in [1, 8, 64] {
            for knee in [1, 4, 16] {
                let mut places = Places::new(Window::Adaptive { initial, min: 1, max: 256 });
                run(&mut places, Time::ZERO, knee, Span::from_millis(10), 50_000);
                let size = places.search.size;
                assert!(
                    (knee.div_ceil(2)..=knee * 2 + 1).contains(&size),
                    "{size} for a knee of {knee} from {initial}"
                );
            }
        }
    }

    #[test]
    fn it_does_not_collapse_when_the_work_gets_slower() {
        let mut places = Places::new(Window::Adaptive { initial: 8, min: 1, max: 256 });
        let mut now = run(&mut places, Time::ZERO, 16, Span::from_millis(5), 20_000);
        for round in 0..20 {
            let service = Span::from_millis(if round % 2 == 0 { 100 } else { 5 });
            now = run(&mut places, now, 16, service, 700);
            assert!(places.search.size >= 8, "window of {} in round {round}", places.search.size);
        }
    }

    #[test]
    fn an_idle_server_teaches_nothing() {
        let mut places = Places::new(Window::Adaptive { initial: 8, min: 1, max: 256 });
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
        let mut adaptive = Places::new(Window::Adaptive { initial: 16, min: 4, max: 64 });
        for (share, size) in [(half, 8), (Ratio::clamped(0.1), 4), (Ratio::ONE, 40)] {
            adaptive.set_capacity(Time::ZERO, share);
            assert_eq!(adaptive.size(), size);
        }
    }

    #[test]
    fn pull_gives_only_what_was_asked_for() {
        let mut places = Places::new(Window::Pull { most: 3 });
        assert_eq!(places.free(5), 0);
        places.pull(2);
        assert_eq!(places.free(5), 2);
        places.take(Time::ZERO);
        assert_eq!(places.free(5), 1);
        places.pull(9);
        assert_eq!(places.free(5), 2);
    }
}
