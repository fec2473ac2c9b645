//! Stage 5, predictive admission: one controller per class (Web2K section 3.3, figure 4).
//!
//! With `q` the length of the class queue and `e = target - q`, a period ends with
//! `target_in = in + q0 e(t) + q1 e(t - T)`: how many requests may join the queue in the next
//! one. The queue integrates what joins less what leaves, so the loop's characteristic
//! polynomial is `z^2 - (2 - q0) z + (1 + q1)`, whatever the server's speed; the gains place its
//! two poles.

use fastrand::Rng;

use units::{Ratio, Span};

use crate::error::ConfigError;
use crate::fairness::floor::Floor;
use crate::fairness::rank::Rank;

/// Gains of the controller. The default puts both poles at one half: without overshoot, and
/// settled after about six periods.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gains {
    /// On the present error.
    pub q0: f64,
    /// On the error one period ago.
    pub q1: f64,
}

impl Default for Gains {
    fn default() -> Self {
        Self { q0: 1.0, q1: -0.75 }
    }
}

impl Gains {
    /// Jury's criterion for the polynomial above.
    pub(crate) fn check(self) -> Result<(), ConfigError> {
        let Self { q0, q1 } = self;
        let stable = q0 + q1 > 0.0 && q1 > -2.0 && q1 < 0.0 && q0 < 4.0 + q1;
        if stable { Ok(()) } else { Err(ConfigError::Unstable { q0, q1 }) }
    }
}

/// For each rank, because the first takes of the share before the next does.
type ByRank = [f64; Rank::COUNT];

/// Controller and actuator of one class.
#[derive(Debug)]
pub(crate) struct Controller {
    target: f64,
    error_before: f64,
    /// Requests that came to be admitted in this period, held-back ones not counted.
    came: ByRank,
    /// Requests that joined the class queue in this period.
    joined: u32,
    /// Requests that left the class queue for the server in this period.
    left: u32,
    /// Smoothed `came` per period.
    expected: ByRank,
    /// Smoothed `left` per period.
    outflow: f64,
    /// What may still join in this period.
    budget: f64,
    /// Part of the budget that each rank has, which the ranks behind it must leave.
    kept: ByRank,
    /// How many new sessions might join in this period when it began.
    room_for_new: f64,
    probability: ByRank,
    /// What new sessions join for, whatever is left of the budget.
    floor: Floor,
    /// Smoothed length of the class queue, as a part of its target.
    crowding: f64,
}

/// How fast estimates follow: half of the present period, half of the past.
const SMOOTHING: f64 = 0.5;

/// The part of its target below which a queue is short.
const SHORT: f64 = 0.5;

/// The part of its target above which a queue that stays so long means overload.
const CROWDED: f64 = 0.75;

/// How long is lasting: a burst of a second or two does not count as overload.
const LASTING: Span = Span::from_secs(2);

impl Controller {
    pub(crate) fn new(target: f64) -> Self {
        Self {
            target,
            error_before: 0.0,
            came: ByRank::default(),
            joined: 0,
            left: 0,
            expected: ByRank::default(),
            outflow: 0.0,
            budget: target,
            kept: ByRank::default(),
            room_for_new: target,
            probability: [1.0; Rank::COUNT],
            floor: Floor::default(),
            crowding: 0.0,
        }
    }

    /// Whether a request may join a queue that is `queued` long now.
    ///
    /// Below half the target no request is turned away for an estimate from a handful of requests,
    /// except new sessions in lasting overload: existing ones will be back with their next page,
    /// and the room that they leave meanwhile is theirs.
    pub(crate) fn admits(&mut self, rank: Rank, queued: u32, rng: &mut Rng) -> bool {
        self.came[rank.index()] += 1.0;
        if self.has_room(rank, queued) {
            return true;
        }
        self.has_budget(rank) && rng.f64() < self.probability[rank.index()]
    }

    /// Whether a held-back request may join now, before any newcomer of the period.
    pub(crate) fn readmits(&self, rank: Rank, queued: u32) -> bool {
        self.has_room(rank, queued) || self.has_budget(rank)
    }

    fn has_budget(&self, rank: Rank) -> bool {
        let kept: f64 = self.kept[..rank.index()].iter().sum();
        self.budget - kept >= 1.0
    }

    /// Whether a request may join whatever its class's share is: the queue is short, or new sessions are owed
    /// their floor.
    pub(crate) fn has_room(&self, rank: Rank, queued: u32) -> bool {
        let is_short = f64::from(queued) < SHORT * self.target;
        (is_short && (rank == Rank::Existing || !self.is_overloaded()))
            || (rank == Rank::New && self.floor.is_due())
    }

    /// Whether the queue has been about its target for a while: what waits in it then is more
    /// than a burst, and not all of it can be served.
    pub(crate) fn is_overloaded(&self) -> bool {
        self.crowding >= CROWDED
    }

    pub(crate) fn joined(&mut self, rank: Rank) {
        self.joined += 1;
        self.budget -= 1.0;
        let kept = &mut self.kept[rank.index()];
        *kept = (*kept - 1.0).max(0.0);
        if rank == Rank::New {
            self.floor.spend();
        }
    }

    pub(crate) fn left(&mut self) {
        self.left += 1;
    }

    /// Ends a `period` with the queue `queued` long; `floor` is the share of new sessions.
    pub(crate) fn end_period(&mut self, period: Span, gains: Gains, queued: u32, floor: Ratio) {
        let smooth = |before: f64, now: f64| before + SMOOTHING * (now - before);
        for (expected, came) in self.expected.iter_mut().zip(self.came) {
            *expected = smooth(*expected, came);
        }
        self.floor.earn(f64::from(self.left), floor);
        self.outflow = smooth(self.outflow, f64::from(self.left));

        let weight = period.as_secs_f64() / (period + LASTING).as_secs_f64();
        self.crowding += weight * (f64::from(queued) / self.target - self.crowding);
        let error = self.target - f64::from(queued);
        let target_in = f64::from(self.joined) + gains.q0 * error + gains.q1 * self.error_before;
        self.error_before = error;
        // `joined` is what really happened, not what the controller last asked for, and the
        // result is never negative: nothing can wind up while the demand is below the share.
        self.budget = target_in.max(0.0);
        let mut rest = self.budget;
        for rank in Rank::ALL.map(Rank::index) {
            self.probability[rank] = share(rest, self.expected[rank]);
            self.kept[rank] = self.expected[rank].min(rest);
            rest -= self.kept[rank];
        }
        let left_over = self.budget - self.kept[Rank::Existing.index()];
        self.room_for_new = left_over.max(self.outflow * floor.as_f64());
        (self.came, self.joined, self.left) = (ByRank::default(), 0, 0);
    }

    /// How many new sessions may join in this period: what is left by those under way, or their floor.
    pub(crate) fn room_for_new(&self) -> f64 {
        self.room_for_new
    }

    /// Periods are `longer` times as long from now on: estimates per period grow with them.
    pub(crate) fn rescale(&mut self, longer: f64) {
        for estimate in self.expected.iter_mut().chain([&mut self.outflow]) {
            *estimate *= longer;
        }
    }

    pub(crate) fn set_target(&mut self, target: f64) {
        self.target = target;
    }

    pub(crate) fn target(&self) -> f64 {
        self.target
    }

    /// Requests that leave the class queue in a period.
    pub(crate) fn outflow(&self) -> f64 {
        self.outflow
    }

    /// Probabilities of admission: existing sessions, new sessions.
    pub(crate) fn probabilities(&self) -> (f64, f64) {
        (self.probability[Rank::Existing.index()], self.probability[Rank::New.index()])
    }
}

fn share(supply: f64, demand: f64) -> f64 {
    if demand <= supply { 1.0 } else { (supply / demand).max(0.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERIOD: Span = Span::from_millis(250);

    fn rank(existing: bool) -> Rank {
        if existing { Rank::Existing } else { Rank::New }
    }

    /// A server that takes `out` requests a period from a queue offered `offered` a period.
    fn settled_queue(target: f64, offered: u32, out: u32, periods: u32) -> u32 {
        let mut controller = Controller::new(target);
        let mut rng = Rng::with_seed(1);
        let mut queue = 0u32;
        for _ in 0..periods {
            for n in 0..offered {
                if controller.admits(Rank::New, queue, &mut rng) {
                    controller.joined(Rank::New);
                    queue += 1;
                }
                if (n + 1) * out / offered > n * out / offered && queue > 0 {
                    queue -= 1;
                    controller.left();
                }
            }
            controller.end_period(PERIOD, Gains::default(), queue, Ratio::ZERO);
        }
        queue
    }

    #[test]
    fn the_queue_stays_about_its_target_in_overload() {
        for (offered, out) in [(40, 10), (200, 10), (300, 100), (120, 100)] {
            let queue = settled_queue(40.0, offered, out, 60);
            assert!((20..=60).contains(&queue), "queue of {queue} at {offered} offered, {out} served");
        }
    }

    #[test]
    fn nothing_is_refused_below_capacity() {
        let mut controller = Controller::new(10.0);
        let mut rng = Rng::with_seed(1);
        for period in 0..100u32 {
            for _ in 0..(period % 7) * 3 {
                assert!(controller.admits(rank(period % 2 == 0), 1, &mut rng));
                controller.joined(rank(period % 2 == 0));
                controller.left();
            }
            controller.end_period(PERIOD, Gains::default(), 0, Ratio::ZERO);
        }
    }

    #[test]
    fn existing_sessions_take_the_share_first() {
        let mut controller = Controller::new(10.0);
        let mut rng = Rng::with_seed(1);
        let mut admitted = [0u32; 2];
        for period in 0..200 {
            for n in 0..40 {
                let existing = n % 4 == 0;
                if controller.admits(rank(existing), 10, &mut rng) && controller.budget >= 0.0 {
                    controller.joined(rank(existing));
                    admitted[usize::from(existing)] += u32::from(period >= 100);
                }
            }
            // Ten of the forty fit each period; the queue stands at its target.
            controller.joined = 10;
            controller.end_period(PERIOD, Gains::default(), 10, Ratio::ZERO);
        }
        assert!(admitted[1] > 900, "{admitted:?}: nearly all 1000 of existing sessions");
        assert!(admitted[0] < 150, "{admitted:?}: hardly any of 3000 new ones");
    }

    #[test]
    fn new_sessions_get_their_floor_and_excess_what_is_left() {
        let mut controller = Controller::new(10.0);
        let mut rng = Rng::with_seed(1);
        let mut admitted = [0u32; Rank::COUNT];
        for _ in 0..400 {
            for n in 0..40 {
                let rank = Rank::ALL[n % 3];
                if controller.admits(rank, 10, &mut rng) && controller.joined < 10 {
                    controller.joined(rank);
                    admitted[rank.index()] += 1;
                }
            }
            (0..10).for_each(|_| controller.left());
            controller.joined = 10;
            controller.end_period(PERIOD, Gains::default(), 10, Ratio::clamped(0.05));
        }
        let [existing, new, excess, _] = admitted;
        assert!(new >= 190, "{admitted:?}: a twentieth of what left");
        assert!(existing > 3300 && excess < 200, "{admitted:?}");
    }

    #[test]
    fn unstable_gains_are_refused() {
        for (q0, q1) in [(1.0, -0.75), (2.0, -1.0), (0.5, -0.4)] {
            assert_eq!(Gains { q0, q1 }.check(), Ok(()), "{q0} {q1}");
        }
        for (q0, q1) in [(1.0, 0.1), (0.5, -0.6), (1.0, -2.5), (5.0, -0.5), (f64::NAN, -0.5)] {
            assert!(Gains { q0, q1 }.check().is_err(), "{q0} {q1}");
        }
    }
}
