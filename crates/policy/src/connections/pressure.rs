//! Whether there is room for another connection, and how much of what there is, is used.

use units::{Ratio, Time};

use super::table::Connections;

/// Idle connections and those of slow clients are closed from here on, so that accepting does not
/// have to wait for it.
const CROWDED: f64 = 0.75;

/// Steps in which pressure is told.
const PRESSURE_STEP: f64 = 0.005;

impl<P> Connections<P> {
    /// Whether another connection can be accepted while `upstream` connections to servers are open. If not,
    /// orders to make room follow.
    pub fn has_room(&mut self, now: Time, upstream: usize) -> bool {
        let has_room = self.open() + upstream < self.limits.connections;
        if !has_room {
            self.exhausted(now);
        }
        has_room
    }

    /// The kernel has no descriptor or memory for another connection. Orders to make room follow.
    pub fn exhausted(&mut self, now: Time) {
        self.make_room(now, self.limits.connections / 50 + 1);
    }

    /// Makes room before it is needed, for connections and for streams.
    pub fn relieve(&mut self, now: Time, upstream: usize) {
        let (open, crowded) = (self.open() + upstream, share(CROWDED, self.limits.connections));
        if open > crowded {
            self.make_room(now, open - crowded);
        }
        let (open, crowded) = (self.streams(), share(CROWDED, self.limits.streams));
        if open > crowded {
            self.make_room_for_streams(now, open - crowded);
        }
    }

    /// So many bytes of the process are in memory.
    pub fn set_memory(&mut self, resident: u64) {
        if let Some(limit) = self.limits.memory {
            self.memory = resident as f64 / limit as f64;
        }
    }

    /// How much of the scarcest resource is used. Idle connections and those of slow clients are of no
    /// use: they make room when it is needed.
    pub fn used(&mut self, now: Time, upstream: usize) -> Ratio {
        let limit = self.limits.connections;
        let mut taken = (self.open() + upstream).saturating_sub(self.idle());
        if taken > limit / 2 {
            taken = taken.saturating_sub(self.slow(now));
        }
        Ratio::clamped((taken as f64 / limit as f64).max(self.memory))
    }

    /// How much is used, if the policy is to be told: when it has changed enough.
    pub fn changed_pressure(&mut self, now: Time, upstream: usize) -> Option<Ratio> {
        let used = self.used(now, upstream);
        let changed = (used.as_f64() - self.told).abs() >= PRESSURE_STEP;
        changed.then(|| {
            self.told = used.as_f64();
            used
        })
    }
}

fn share(share: f64, of: usize) -> usize {
    (share * of as f64) as usize
}
