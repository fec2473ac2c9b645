//! [`Pause`]: a stretch without responses.

use record::Timestamp;
use serde::Serialize;
use units::{Span, Time};

use super::moment::on_calendar;

/// A stretch without responses, longer than chance leaves one at the rate before and after it. Where it begins and ends is
/// an estimate, by how many responses are missing in the looks at both ends; it is within these looks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Pause {
    /// When it began, on the calendar.
    pub time: Timestamp,
    /// The same in seconds from the beginning of the watch.
    pub from: f64,
    /// How long it was, in seconds.
    pub length: f64,
    /// Responses per second in the second before and in the one after, whichever had fewer.
    pub rate: f64,
}

/// Responses that are missing beyond a part of those that were to be expected, in a row of looks. Of independent arrivals
/// so many are missing by chance once in exp(1.59 x 10) and exp(0.76 x 21), eight million each (the cumulative sum test: Page,
/// "Continuous inspection schemes", 1954, with Lundberg's exponent). The first finds the shorter ones, the second those that
/// are shorter than a look, or divided among two.
const TESTS: [(f64, f64); 2] = [(0.5, 10.0), (0.7, 21.0)];
/// A stretch may have some responses within, where clients are told of something else.
const NEARLY_NONE: f64 = 0.25;
/// Beside a stretch, that far.
const BESIDE: f64 = 1.0;

/// A look: its end in seconds, how long it was, and how many responses there were.
#[derive(Debug, Clone, Copy)]
struct Look {
    end: f64,
    length: f64,
    responses: f64,
}

impl Look {
    fn begin(self) -> f64 {
        self.end - self.length
    }

    /// The part of it without responses, at that rate.
    fn idle(self, rate: f64) -> f64 {
        (self.length - self.responses / rate).clamp(0.0, self.length)
    }
}

/// Looks, and how many responses each had.
#[derive(Debug, Default)]
pub(super) struct Pauses(Vec<Look>);

impl Pauses {
    /// A look ended then, so long after the one before, and the rate was that of all responses.
    pub(super) fn see(&mut self, time: Time, length: Span, rate: f64) {
        let (end, length) = (time.since(Time::ZERO).as_secs_f64(), length.as_secs_f64());
        self.0.push(Look { end, length, responses: (rate * length).round().max(0.0) });
    }

    /// Those there are, in their order.
    pub(super) fn find(&self, began: Timestamp) -> Vec<Pause> {
        let rates = self.rates();
        let mut found = Vec::new();
        let mut at = 0;
        while at < self.0.len() {
            let by_test = |test| {
                let last = self.stretch(at, &rates, test)?;
                Some((self.pause(at, last, &rates, began)?, last))
            };
            match TESTS.into_iter().find_map(by_test) {
                Some((pause, last)) => {
                    found.push(pause);
                    at = last + 1;
                }
                None => at += 1,
            }
        }
        found
    }

    /// How many responses per second were to be expected in each look: as many as in the second before, up to the last look
    /// with any, or in the second after, whichever are fewer. None where there is less than half of such a second.
    fn rates(&self) -> Vec<f64> {
        let looks = &self.0;
        let mut sums = vec![0.0];
        for look in looks {
            sums.push(sums[sums.len() - 1] + look.responses);
        }
        let rate = |from: usize, to: usize| {
            let time = looks[to].end - looks[from].begin();
            if time >= 0.5 * BESIDE { (sums[to + 1] - sums[from]) / time } else { 0.0 }
        };
        let before =
            |last: usize| rate(looks.partition_point(|look| look.end <= looks[last].end - BESIDE), last);
        let after = |first: usize| {
            let end = looks.partition_point(|look| look.begin() < looks[first].begin() + BESIDE);
            rate(first, end - 1)
        };
        let mut rates = vec![0.0; looks.len()];
        let mut answered = None;
        for (at, expected) in rates.iter_mut().enumerate() {
            *expected = answered.map_or(0.0, before);
            answered = Some(at).filter(|at| looks[*at].responses > 0.0).or(answered);
        }
        let mut answered = None;
        for (at, expected) in rates.iter_mut().enumerate().rev() {
            *expected = expected.min(answered.map_or(0.0, after));
            answered = Some(at).filter(|at| looks[*at].responses > 0.0).or(answered);
        }
        rates
    }

    /// The last look of the stretch that begins with this one, if one does, by a test.
    fn stretch(&self, first: usize, rates: &[f64], (expected, too_many): (f64, f64)) -> Option<usize> {
        let (mut missing, mut most, mut last) = (0.0, 0.0, first);
        for (at, look) in self.0.iter().enumerate().skip(first) {
            missing += expected * rates[at] * look.length - look.responses;
            if missing <= 0.0 {
                break;
            }
            if missing > most {
                (most, last) = (missing, at);
            } else if look.responses > 0.0 && missing < 0.5 * most {
                // It was over before.
                break;
            }
        }
        (most >= too_many).then_some(last)
    }

    fn pause(&self, first: usize, last: usize, rates: &[f64], began: Timestamp) -> Option<Pause> {
        let looks = &self.0;
        // Where the look at an end has none, the one beside it may have had less than its share.
        let is_part =
            |at: usize, rate: f64| looks.get(at).is_some_and(|look| look.idle(rate) > 0.2 * look.length);
        let is_none = |at: usize| looks[at].responses <= NEARLY_NONE * rates[at] * looks[at].length;
        let before = first.checked_sub(1).filter(|before| is_none(first) && is_part(*before, rates[first]));
        let after = Some(last + 1).filter(|after| is_none(last) && is_part(*after, rates[last]));
        let (first, last) = (before.unwrap_or(first), after.unwrap_or(last));
        let rate = rates[first..=last].iter().copied().fold(f64::INFINITY, f64::min);
        // At both ends a look may have chance against it, and the one beside it a part of the pause.
        let within = looks.get(first + 2..last.saturating_sub(1)).unwrap_or_default();
        let is_empty = within.iter().all(|look| look.responses <= NEARLY_NONE * rate * look.length);
        if rate <= 0.0 || !is_empty {
            return None;
        }
        let begins = (first..=last).find(|at| looks[*at].idle(rate) > 0.3 * looks[*at].length)?;
        let ends = (first..=last).rfind(|at| looks[*at].idle(rate) > 0.3 * looks[*at].length)?;
        let from = looks[begins].end - looks[begins].idle(rate);
        let to = if begins == ends { looks[ends].end } else { looks[ends].begin() + looks[ends].idle(rate) };
        let time = on_calendar(began, Span::from_secs_f64(from));
        Some(Pause { time, from, length: to - from, rate })
    }
}

#[cfg(test)]
mod tests {
    use rand::rngs::SmallRng;
    use rand::{Rng as _, SeedableRng as _};

    use super::*;

    /// Looks of this length at responses at these times, in seconds, until `end`.
    fn pauses(times: &[f64], every: f64, end: f64) -> Vec<Pause> {
        let mut pauses = Pauses::default();
        let span = Span::from_secs_f64(every);
        for number in 0..(end / every) as usize {
            let (from, to) = (number as f64 * every, (number + 1) as f64 * every);
            let before = |moment: f64| times.partition_point(|time| *time < moment);
            let count = before(to) - before(from);
            pauses.see(Time::ZERO + Span::from_secs_f64(to), span, count as f64 / every);
        }
        pauses.find(Timestamp::UNIX_EPOCH)
    }

    /// Arrivals at random, but for one pause.
    fn arrivals(seed: u64, rate: f64, end: f64, pause: (f64, f64)) -> Vec<f64> {
        let mut random = SmallRng::seed_from_u64(seed);
        let mut times = Vec::new();
        let mut at = 0.0;
        while at < end {
            at += -random.random_range(f64::MIN_POSITIVE..1.0_f64).ln() / rate;
            if !(pause.0..pause.0 + pause.1).contains(&at) {
                times.push(at);
            }
        }
        times
    }

    #[test]
    fn a_pause_is_found_wherever_it_is_within_its_looks() {
        for seed in 0..50 {
            for every in [0.01, 0.02] {
                let from = 3.0 + seed as f64 * 0.0013;
                let found = pauses(&arrivals(seed, 1000.0, 6.0, (from, 0.05)), every, 6.0);
                let [pause] = found[..] else { panic!("{seed}, {every}: {found:?}") };
                assert!((pause.from - from).abs() < every + 0.012, "{seed}, {every}: {pause:?}, not {from}");
                assert!((pause.length - 0.05).abs() < every + 0.012, "{seed}, {every}: {pause:?}");
            }
        }
        let long = pauses(&arrivals(1, 300.0, 20.0, (5.0, 7.0)), 0.01, 20.0);
        assert!(long.len() == 1 && (long[0].length - 7.0).abs() < 0.03, "{long:?}");
    }

    #[test]
    fn chance_leaves_none() {
        for (rate, end) in [(20.0, 100.0), (300.0, 60.0), (3000.0, 20.0)] {
            for seed in 0..5 {
                let found = pauses(&arrivals(seed, rate, end, (0.0, 0.0)), 0.01, end);
                assert!(found.is_empty(), "{rate}/s, {seed}: {found:?}");
            }
        }
    }

    #[test]
    fn before_the_first_and_after_the_last_response_is_no_pause() {
        let within: Vec<f64> = arrivals(1, 1000.0, 3.0, (0.0, 0.0)).iter().map(|time| time + 2.0).collect();
        assert!(pauses(&within, 0.01, 8.0).is_empty());
        assert!(pauses(&[], 0.01, 1.0).is_empty());
    }
}
