//! [`Bracket`]: which rate to try next, and between which two rates the capacity lies.

use units::Rate;

/// Rates that were tried, and whether the server kept up with them. Nothing here does any input or output.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bracket {
    /// From the lowest rate to the highest.
    tallies: Vec<RateTrials>,
}

/// All trials of one rate.
#[derive(Debug, Clone, Copy, Default)]
struct RateTrials {
    rate: f64,
    held: usize,
    missed: usize,
}

/// From one rate to the next as long as all of them hold, or none does; each such step squares it.
const STRIDE: f64 = 1.04;
const MAX_STRIDE: f64 = 4.0;
/// By how many trials one verdict has to outnumber the other where it matters.
const MIN_MARGIN: usize = 2;
/// A rate that remains in doubt after so many trials is the capacity as nearly as can be known.
const MAX_TRIALS: usize = 4;
/// Rates that differ by less are one rate.
const SAME: f64 = 1e-6;

impl RateTrials {
    fn trials(&self) -> usize {
        self.held + self.missed
    }

    fn margin(&self) -> usize {
        self.held.abs_diff(self.missed)
    }

    fn may_be_tried_again(&self) -> bool {
        self.margin() < MIN_MARGIN && self.trials() < MAX_TRIALS
    }
}

impl Bracket {
    pub(crate) fn add(&mut self, rate: Rate, keeps_up: bool) {
        let rate = rate.as_f64();
        let place = self.tallies.partition_point(|tally| tally.rate < rate * (1.0 - SAME));
        if self.tallies.get(place).is_none_or(|tally| tally.rate > rate * (1.0 + SAME)) {
            self.tallies.insert(place, RateTrials { rate, ..RateTrials::default() });
        }
        let tally = &mut self.tallies[place];
        if keeps_up {
            tally.held += 1;
        } else {
            tally.missed += 1;
        }
    }

    /// The rate to try next, until both ends are as near as `precision`, a share, and confirmed.
    pub(crate) fn next(&self, first: Rate, precision: f64) -> Option<Rate> {
        let (Some(lowest), Some(highest)) = (self.tallies.first(), self.tallies.last()) else {
            return Some(first);
        };
        let (below, above) = self.split();
        if let Some(rate) = self.doubtful() {
            return Some(rate);
        }
        let stride = |is_beyond: &dyn Fn(f64) -> bool| {
            let beyond = self.tallies.iter().filter(|tally| is_beyond(tally.rate)).count();
            STRIDE.powf(2_f64.powi(beyond.max(1) as i32 - 1)).min(MAX_STRIDE)
        };
        let at = first.as_f64();
        if below == 0 {
            return Rate::per_second(lowest.rate / stride(&|rate| rate < at * (1.0 + SAME)));
        }
        if above == self.tallies.len() {
            let stride = stride(&|rate| rate > at * (1.0 - SAME));
            return Rate::per_second((highest.rate * stride).max(at));
        }
        // The same gap twice, unless there are rates between its ends at which chance decides.
        let gaps = [below - 1, above - 1].map(|place| [self.tallies[place], self.tallies[place + 1]]);
        if let Some([low, high]) = gaps.into_iter().find(|[low, high]| high.rate / low.rate > 1.0 + precision)
        {
            return Rate::per_second((low.rate * high.rate).sqrt());
        }
        let unsure = [gaps[0][0], gaps[1][1]].into_iter().find(RateTrials::may_be_tried_again)?;
        Rate::per_second(unsure.rate)
    }

    /// A rate that should be tried again because others contradict it, or its own trials do.
    pub(crate) fn doubtful(&self) -> Option<Rate> {
        let (below, above) = self.split();
        let between = self.tallies.get(below..above)?.iter();
        let least = between.filter(|tally| tally.may_be_tried_again()).min_by_key(|tally| tally.margin())?;
        Rate::per_second(least.rate)
    }

    /// The highest rate up to which the server kept up with all, and the lowest from which it did with none:
    /// next to each other, unless trials contradict each other. Nothing as long as all hold, or none does.
    pub(crate) fn capacity(&self) -> Option<[f64; 2]> {
        let (below, above) = self.split();
        Some([self.tallies.get(below.checked_sub(1)?)?.rate, self.tallies.get(above)?.rate])
    }

    /// How many rates from the lowest on most trials held, and from which one on most did not.
    fn split(&self) -> (usize, usize) {
        let below = self.tallies.iter().take_while(|tally| tally.held > tally.missed).count();
        let above = self.tallies.iter().rev().take_while(|tally| tally.missed > tally.held).count();
        (below, self.tallies.len() - above)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(rate: f64) -> Rate {
        Rate::per_second(rate).unwrap()
    }

    /// Tries a server until it is known; gives the capacity and the number of trials.
    fn search(first: f64, mut keeps_up: impl FnMut(f64) -> bool) -> ([f64; 2], usize) {
        let mut bracket = Bracket::default();
        let mut trials = 0;
        while let Some(rate) = bracket.next(rate(first), 0.02) {
            bracket.add(rate, keeps_up(rate.as_f64()));
            trials += 1;
            assert!(trials < 60, "{bracket:?}");
        }
        (bracket.capacity().unwrap(), trials)
    }

    #[test]
    fn the_capacity_is_found_from_either_side() {
        for first in [30.0, 300.0, 900.0, 1000.0, 1100.0, 3000.0, 30000.0] {
            let ([low, high], trials) = search(first, |rate| rate <= 1000.0);
            assert!(low <= 1000.0 && 1000.0 < high && high / low < 1.021, "{first}: {low} {high}");
            assert!(trials <= 18, "{first}: {trials}");
        }
    }

    /// One trial near the capacity says the wrong thing; it is outvoted by others of the same rate.
    #[test]
    fn a_trial_that_contradicts_others_is_made_again() {
        for (wrong, server) in [(980.0..1000.0, 1000.0), (1000.0..1020.0, 1000.0), (890.0..1000.0, 1000.0)] {
            let mut lies = 1;
            let ([low, high], _) = search(1000.0, |rate| {
                let lie = wrong.contains(&rate) && std::mem::replace(&mut lies, 0) == 1;
                (rate <= server) != lie
            });
            assert!(low <= 1000.0 && 1000.0 <= high && high / low < 1.05, "{wrong:?}: {low} {high}");
        }
    }

    #[test]
    fn a_rate_at_which_chance_decides_lies_inside() {
        let mut coin = false;
        let ([low, high], trials) = search(1000.0, |rate| {
            coin = !coin;
            if (995.0..1005.0).contains(&rate) { coin } else { rate < 1000.0 }
        });
        assert!(low < 995.0 && high > 1005.0 && high / low < 1.06 && trials < 24, "{low} {high} {trials}");
    }

    #[test]
    fn nothing_is_said_of_a_server_whose_capacity_was_not_reached() {
        let mut bracket = Bracket::default();
        assert_eq!(bracket.next(rate(10.0), 0.02), Some(rate(10.0)));
        bracket.add(rate(10.0), true);
        bracket.add(rate(11.0), true);
        assert_eq!((bracket.capacity(), bracket.doubtful()), (None, None));
        assert!(bracket.next(rate(10.0), 0.02).unwrap() > rate(11.8));
    }

    #[test]
    fn a_ramp_asks_again_for_what_is_doubtful() {
        let mut bracket = Bracket::default();
        for (at, held) in [(1.0, true), (2.0, false), (3.0, true), (4.0, false), (5.0, false)] {
            bracket.add(rate(at), held);
        }
        assert_eq!(bracket.capacity(), Some([1.0, 4.0]));
        assert_eq!(bracket.doubtful(), Some(rate(2.0)));
        bracket.add(rate(2.0), true);
        bracket.add(rate(2.0), true);
        assert_eq!((bracket.capacity(), bracket.doubtful()), (Some([3.0, 4.0]), None));
    }
}
