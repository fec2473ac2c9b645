//! [`Places`]: how many requests may be inside the server now, and how many are.

use units::{Ratio, Span, Time};

use super::search::Search;
use super::setting::Window;

/// The window and what is inside it.
#[derive(Debug)]
pub(crate) struct Places {
    window: Window,
    taken: u32,
    /// When one was taken last.
    taken_at: Time,
    given_back: Time,
    /// Places more, while nothing comes out of the server; and since when.
    spare: u32,
    stalled: Time,
    /// Seconds in which places were used, as a part of the window, since that was asked last.
    used: f64,
    used_at: Time,
    asked: Time,
    /// How much of the server is there.
    capacity: Ratio,
    pub(super) search: Search,
}

impl Places {
    pub(crate) fn new(window: Window) -> Self {
        let (initial, min, max) = match window {
            Window::Fixed(size) => (size, size, size),
            Window::Adaptive { initial, min, max } => (initial, min, max),
        };
        let search = Search::new(initial, min, max);
        Self {
            window,
            taken: 0,
            taken_at: Time::ZERO,
            given_back: Time::ZERO,
            spare: 0,
            stalled: Time::ZERO,
            used: 0.0,
            used_at: Time::ZERO,
            asked: Time::ZERO,
            capacity: Ratio::ONE,
            search,
        }
    }

    /// Another window; what is inside stays. One that was adaptive and still is goes on from the
    /// size that it had found.
    pub(crate) fn reconfigure(&mut self, now: Time, window: Window) {
        if window == self.window {
            return;
        }
        let found = self.search.found();
        let adapted = matches!(self.window, Window::Adaptive { .. });
        let Self { taken, taken_at, given_back, capacity, .. } = *self;
        *self = Self { taken, taken_at, given_back, capacity, ..Self::new(window) };
        if let Window::Adaptive { initial, .. } = window {
            self.search.restart(now, if adapted { found } else { initial }, taken);
        }
    }

    /// So much of the server is there. A size that was found was right for what there was then.
    pub(crate) fn set_capacity(&mut self, now: Time, share: Ratio) {
        let before = core::mem::replace(&mut self.capacity, share);
        if share != before && before > Ratio::ZERO {
            let found = scaled(self.search.found(), share.as_f64() / before.as_f64());
            self.search.restart(now, found, self.taken);
        }
    }

    fn advance(&mut self, now: Time) {
        let seconds = now.since(self.used_at).as_secs_f64();
        self.used += seconds * (f64::from(self.taken) / f64::from(self.size().max(1))).min(1.0);
        self.used_at = now;
        self.search.advance(now, self.taken);
    }

    /// The part of the window that was used since this was asked last.
    pub(crate) fn used(&mut self, now: Time) -> f64 {
        self.advance(now);
        let used = core::mem::take(&mut self.used);
        let seconds = now.since(core::mem::replace(&mut self.asked, now)).as_secs_f64();
        if seconds > 0.0 { used / seconds } else { 0.0 }
    }

    /// How many requests may be inside now.
    pub(crate) fn size(&self) -> u32 {
        match self.window {
            Window::Fixed(size) => scaled(size, self.capacity.as_f64()),
            Window::Adaptive { .. } => self.search.offered(),
        }
    }

    /// Places beyond the window, while nothing comes out of the server.
    pub(crate) fn spare(&self) -> u32 {
        self.spare
    }

    /// Whether one of those is free.
    pub(crate) fn has_spare(&self) -> bool {
        self.spare > 0 && self.taken < self.size() + self.spare
    }

    /// Gives a place more where nothing has come out of the server for so long, though all that it was given has been
    /// inside since: it may be waiting for something in all of them, and have time for others. A window that is fixed stays.
    pub(crate) fn stall(&mut self, now: Time, quiet: Span) {
        /// If the server hangs or is overloaded, so many more do not matter.
        const MAX_SPARE: u32 = 8;
        let Window::Adaptive { max, .. } = self.window else { return };
        let is_quiet = now.since(self.given_back.max(self.taken_at)) >= quiet;
        let places = self.size() + self.spare;
        if self.taken >= places && is_quiet && self.spare < MAX_SPARE && places < max {
            if self.spare == 0 {
                self.stalled = now;
            }
            self.spare += 1;
        }
    }

    /// How many important requests may be inside now, as long as none of them has to wait: see
    /// [`Search::settled`].
    pub(crate) fn settled(&self) -> u32 {
        match self.window {
            Window::Fixed(_) => self.size(),
            Window::Adaptive { .. } => self.search.settled(),
        }
    }

    pub(crate) fn taken(&self) -> u32 {
        self.taken
    }

    /// When a place was last given back.
    pub(crate) fn given_back(&self) -> Time {
        self.given_back
    }

    /// What is due without a request coming or going.
    pub(crate) fn watch(&mut self, now: Time) {
        if matches!(self.window, Window::Adaptive { .. }) {
            self.search.watch(now, self.taken);
        }
    }

    /// Places free now when `express` are added on top.
    pub(crate) fn free(&self, express: u32) -> u32 {
        self.size().saturating_add(express).saturating_sub(self.taken)
    }

    pub(crate) fn take(&mut self, now: Time) {
        self.advance(now);
        self.taken += 1;
        self.taken_at = now;
    }

    /// A request that was inside since `dispatched` cost that much of the server, and is that `work`.
    pub(crate) fn observe(&mut self, now: Time, dispatched: Time, cost: f64, work: f64) {
        if self.taken < self.size() {
            self.search.observe(now.since(dispatched), cost, work);
        }
    }

    /// So many requests wait beside those inside.
    pub(crate) fn crowd(&mut self, now: Time, waiting: u32) {
        if matches!(self.window, Window::Adaptive { .. }) {
            self.search.crowd(now, self.taken, self.taken + waiting);
        }
    }

    /// Gives back a place that was taken at `dispatched`, for a request that costs the server that `work`.
    pub(crate) fn give_back(&mut self, now: Time, dispatched: Time, work: f64) {
        self.advance(now);
        self.taken = self.taken.saturating_sub(1);
        self.given_back = now;
        if dispatched < self.stalled || self.taken < self.size() {
            // One of those came out that seemed to be stuck.
            self.spare = 0;
        }
        self.search.finished(now, dispatched, self.taken, work);
    }
}

/// That much of a window, which has at least one place.
fn scaled(size: u32, share: f64) -> u32 {
    ((f64::from(size) * share + 0.5) as u32).max(1)
}
