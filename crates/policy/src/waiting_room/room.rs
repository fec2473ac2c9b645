//! [`WaitingRoom`]: who is called, how long it takes, and when to come back.

use fastrand::Rng;
use units::{Span, Time};

use super::line::Line;
use super::visit::{Ticket, Told, Visit};

/// The waiting room of one class.
///
/// The first of the line are called: so many that, with the time it takes until they come back, as many come as the
/// class has room for. What it has room for is what admission measures, so no rate is set. Who is called goes through
/// admission like everybody else, and keeps the place if that refuses it.
#[derive(Debug)]
pub(crate) struct WaitingRoom {
    line: Line,
    /// New sessions for which the class has room, per second, smoothed.
    room: f64,
    /// So many of the line are called.
    called: f64,
    /// Of them, so many because places stayed empty.
    besides: f64,
    /// For how many seconds places have stayed empty.
    idle: f64,
    /// Visitors who were let in in this period.
    came_in: u32,
    outflow: Outflow,
    /// When a newcomer last had not to wait.
    closed: Time,
    is_open: bool,
}

/// How fast the line has moved lately.
#[derive(Debug, Clone, Copy, Default)]
struct Outflow {
    /// Visitors who were let in.
    let_in: f64,
    /// Visitors who were called and did not come.
    missed: f64,
    seconds: f64,
}

/// A waiting room as it is now.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RoomSnapshot {
    /// Visitors who wait, as far as they are expected to come.
    pub waiting: u32,
    /// Visitors let in per second, as measured lately.
    pub outflow: f64,
    /// For how long the first of them has waited.
    pub longest: Span,
}

/// Who is next comes back so soon.
const SHORTEST: f64 = 2.0;
/// So soon comes back who has just come, unless it is about to be called: whether it comes is not known yet.
const FIRST: f64 = 5.0;
/// The longest interval, if few wait.
const LONGEST: f64 = 60.0;
/// Visitors who come back per second at most, however many wait; those about to be called come on top.
const MAX_POLLS: f64 = 1000.0;
/// From being called until one comes: half of the shortest interval.
const LAG: f64 = SHORTEST / 2.0;
/// For so long places may stay empty, because the visitors who are called are on their way; then the line is made
/// shorter quickly: as many as are called already are called besides in this time.
const PATIENCE: f64 = 2.0 * LAG;
const CALLING: f64 = 0.5;
/// How much time the measurement of the outflow covers.
const MEMORY: f64 = 30.0;
/// What was measured before somebody had to wait counts for so much: there may have been fewer than there was room for.
const BEFORE: f64 = 0.125;
/// Fewer say nothing about how fast the line moves.
const FEW: f64 = 3.0;
/// How much later than told a visitor may come back to a room that was closed meanwhile, at least.
const LATE: Span = Span::from_secs(10);

impl WaitingRoom {
    pub(crate) fn new() -> Self {
        Self {
            line: Line::new(),
            room: 0.0,
            called: 1.0,
            besides: 0.0,
            idle: 0.0,
            came_in: 0,
            outflow: Outflow::default(),
            closed: Time::ZERO,
            is_open: false,
        }
    }

    /// The visit as it counts here. A visitor that should have come back before the room was last closed has not wanted to
    /// come in, and begins anew: places cannot be kept for the next time.
    pub(crate) fn honoured(&self, visit: Visit, now: Time) -> Visit {
        let is_over = visit.told.is_some_and(|told| told.due() + told.interval().max(LATE) < self.closed);
        if is_over { Visit::begin(visit.id, now) } else { Visit { first: visit.first.min(now), ..visit } }
    }

    /// Whether a visitor has to wait. One that has not leaves the line.
    pub(crate) fn holds(&mut self, visit: &Visit) -> bool {
        let has_to_wait = f64::from(self.line.ahead(visit)) >= self.called;
        if !has_to_wait {
            self.line.leave(visit);
        }
        has_to_wait
    }

    /// What a refused visitor is told. `was_called` if it had left the line.
    pub(crate) fn refuse(&mut self, visit: Visit, now: Time, was_called: bool, rng: &mut Rng) -> Ticket {
        let ahead = self.line.ahead(&visit);
        let place = visit.told.map_or(u32::MAX, |told| told.place).min(ahead.saturating_add(1));
        let seconds = self.seconds(&visit, ahead, now, rng);
        let due = now + Span::from_secs(u64::from(seconds));
        if was_called {
            self.line.put_back(&visit, now, due);
        } else {
            self.line.keep(&visit, now, due);
        }
        let wait = self.outflow.of_line().map(|rate| Span::from_secs_f64(f64::from(place) / rate));
        let visit = Visit { told: Some(Told { at: now, place, seconds }), ..visit };
        Ticket { visit, place, seconds, wait, waiting: self.line.length() }
    }

    /// Half of the time until it will be called, so that it is there in time when the line moves twice as fast.
    fn seconds(&self, visit: &Visit, ahead: u32, now: Time, rng: &mut Rng) -> u16 {
        /// As much as a token holds.
        const MAX: f64 = 60_000.0;
        let before = (f64::from(ahead) + 1.0 - self.called).max(0.0);
        let half = self.outflow.of_line().map_or(f64::MAX, |rate| before / rate / 2.0);
        let age = now.since(visit.first).as_secs_f64();
        let most = (age / 2.0 + FIRST).min(LONGEST).max(f64::from(self.line.length()) / MAX_POLLS);
        let seconds = half.min(most).clamp(SHORTEST, MAX);
        // Those who were told at once do not all come back at once.
        let spread = seconds * (0.85 + 0.15 * rng.f64());
        libm::ceil(spread) as u16
    }

    /// A visitor was sent to the server.
    pub(crate) fn let_in(&mut self) {
        self.outflow.let_in += 1.0;
        self.came_in += 1;
    }

    /// Ends a period, in which the class had room for so many new sessions; `idle` if it has no request, and there is
    /// a place.
    pub(crate) fn end_period(&mut self, now: Time, period: Span, room: f64, idle: bool) {
        let period = period.as_secs_f64();
        self.room += period / (period + LAG) * (room / period - self.room);
        self.outflow.missed += f64::from(self.line.turn(now, self.called));
        self.outflow.age(period);
        // Whatever keeps those away who are called, and however wrong the order is that is known of them: the more
        // are called the longer the server waits for them.
        let came_in = core::mem::take(&mut self.came_in);
        if idle && self.is_open {
            self.idle += period;
            let at_once = if self.idle > PATIENCE { self.called / CALLING } else { self.besides + 1.0 };
            self.besides += at_once * period;
        } else {
            self.idle = 0.0;
            self.besides = (self.besides - f64::from(came_in)).max(0.0);
        }
        self.called = (self.room * LAG / self.outflow.return_share()).max(1.0) + self.besides;
        let was_open = core::mem::replace(&mut self.is_open, f64::from(self.line.length()) >= self.called);
        match (was_open, self.is_open) {
            (_, false) => self.closed = now,
            (false, true) => self.outflow.scale(BEFORE),
            (true, true) => {}
        }
    }

    pub(crate) fn snapshot(&self, now: Time) -> RoomSnapshot {
        RoomSnapshot {
            waiting: self.line.length(),
            outflow: self.outflow.let_in / self.outflow.seconds.max(1.0),
            longest: self.line.oldest().map_or(Span::ZERO, |oldest| now.since(oldest)),
        }
    }
}

impl Outflow {
    /// By how many places a second the line moves: called visitors who do not come make way as well.
    fn of_line(&self) -> Option<f64> {
        let moved = self.let_in + self.missed;
        (moved >= FEW && self.seconds > 0.0).then(|| moved / self.seconds)
    }

    /// The part of those called who come.
    fn return_share(&self) -> f64 {
        /// Fewer would have everybody called.
        const LEAST: f64 = 0.1;
        ((self.let_in + 1.0) / (self.let_in + self.missed + 1.0)).max(LEAST)
    }

    fn age(&mut self, seconds: f64) {
        self.seconds += seconds;
        self.scale(MEMORY / (MEMORY + seconds));
    }

    fn scale(&mut self, part: f64) {
        self.let_in *= part;
        self.missed *= part;
        self.seconds *= part;
    }
}
