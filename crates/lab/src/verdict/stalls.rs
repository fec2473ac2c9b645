//! [`Stalls`]: looks at a server in which it answered nothing for a while, where that is the exception.
//!
//! What holds up a server for a tenth of a second, now and then, shows in no mean; but who misses an objective for it misses
//! it there.

use std::collections::BTreeSet;

use record::{RequestRow, RunDirectory};
use units::{Span, Time};

use crate::error::Error;

/// Looks with a stall: requests came, and none was answered.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Stalls {
    /// When these looks were, and of them those that were made while it stood still.
    pub(super) at: BTreeSet<Time>,
    pub(super) amid: BTreeSet<Time>,
    /// Of the time of these looks, the share in which it stood still.
    pub(super) part: f64,
    /// How many stalls there were, and how long each was in the mean.
    pub(super) number: usize,
    pub(super) length: Span,
    /// Of the slowest requests, the share that was under way in one of them.
    pub(super) of_slowest: f64,
}

/// A stall is so long that so many answers would be expected in it, and there are none, while so many requests come.
const EXPECTED: f64 = 5.0;
const FEW: usize = 4;
/// And what is shorter is nothing that is missed.
const SHORT: Span = Span::from_millis(20);
/// Beyond this share of the time it is not the exception.
const MOST: f64 = 0.5;
/// A look is one with a stall where that is so much of it.
const OF_LOOK: f64 = 0.2;
/// They have to have most of the slowest requests in them: of the slowest tenth those that take so many times as long as
/// the median, and longer by so much.
const EXPLAINS: f64 = 0.7;
const SLOWEST: usize = 10;
const TIMES: u64 = 3;
const LONGER: Span = Span::from_millis(10);

impl Stalls {
    /// Those in the measuring window of a run, of looks at these moments of it; nothing where there are none that explain
    /// what was slow.
    pub(super) fn find(run: &RunDirectory, looks: &[Time]) -> Result<Option<Self>, Error> {
        let window = run.info()?.window;
        let at = |nanos| Time::ZERO + Span::from_nanos(nanos);
        let requests = run.requests()?.map(|row| row.map(|row| Under::way(&row)));
        let requests = requests.collect::<Result<Vec<Under>, _>>()?;
        Ok(Self::of(&requests, (at(window.from_ns), at(window.to_ns)), looks))
    }

    fn of(requests: &[Under], (first, last): (Time, Time), looks: &[Time]) -> Option<Self> {
        let slow = slow(requests);
        let spans = stalls(requests, first, last);
        // Where few requests come, those that are slow are all there is to be seen of it.
        let spans = if spans.is_empty() { alone(&slow, requests, first, last) } else { spans };
        let held: f64 = spans.iter().map(|(from, to)| to.since(*from).as_secs_f64()).sum();
        let all = last.since(first).as_secs_f64();
        if spans.is_empty() || slow.is_empty() || held > MOST * all {
            return None;
        }
        // The first look is of as long a time as the second.
        let length = looks.get(1)?.since(*looks.first()?);
        let before = Time::ZERO + looks.first()?.since(Time::ZERO).saturating_sub(length);
        let looks: Vec<Time> = std::iter::once(before).chain(looks.iter().copied()).collect();
        let of = |from: Time, to: Time| {
            let rest = &spans[spans.partition_point(|stall| stall.1 <= from)..];
            let met = rest.iter().take_while(|stall| stall.0 < to);
            met.map(|stall| to.min(stall.1).since(from.max(stall.0)).as_secs_f64()).sum::<f64>()
        };
        let is_amid = |look: Time| spans.iter().any(|(from, to)| *from < look && look <= *to);
        let with: Vec<(Time, Time)> = looks
            .windows(2)
            .map(|ends| (ends[0], ends[1]))
            .filter(|(from, to)| of(*from, *to) >= OF_LOOK * to.since(*from).as_secs_f64())
            .collect();
        let meets = |request: &&Under| of(request.from, request.to) > 0.0;
        let of_slowest =
            slow.iter().copied().filter(|request| meets(request)).count() as f64 / slow.len() as f64;
        let seconds: f64 = with.iter().map(|(from, to)| to.since(*from).as_secs_f64()).sum();
        let part = with.iter().map(|(from, to)| of(*from, *to)).sum::<f64>() / seconds;
        (of_slowest >= EXPLAINS && !with.is_empty()).then(|| Self {
            part,
            at: with.iter().map(|(_, to)| *to).collect(),
            amid: looks.iter().copied().filter(|look| is_amid(*look)).collect(),
            number: spans.len(),
            length: Span::from_secs_f64(held / spans.len() as f64),
            of_slowest,
        })
    }

    /// What something was while it stood still, by what it was in the looks in which it did for a part, and in the others.
    pub(super) fn alone(&self, with: f64, without: f64) -> f64 {
        ((with - (1.0 - self.part) * without) / self.part).max(0.0)
    }

    /// Adds those of another run.
    pub(super) fn add(&mut self, other: &Self) {
        let total = self.length * self.number as u64 + other.length * other.number as u64;
        self.of_slowest = self.of_slowest.min(other.of_slowest);
        self.number += other.number;
        self.length = Span::from_nanos(total.as_nanos() / self.number.max(1) as u64);
    }

    /// In a sentence, before what was seen then.
    pub(super) fn said(&self, seen: &str) -> String {
        format!(
            "Nothing was answered for {:.0} ms at a time, {} times, with {:.0} % or more of the slowest requests under way. Of the looks in which that was alone: {seen}",
            self.length.as_secs_f64() * 1e3,
            self.number,
            self.of_slowest * 100.0,
        )
    }
}

/// Up to this share of a stall none of the others ends.
const NEARLY: f64 = 0.8;

/// The slowest, if they are much slower than most.
fn slow(requests: &[Under]) -> Vec<&Under> {
    let mut by_latency: Vec<&Under> = requests.iter().collect();
    by_latency.sort_by_key(|request| std::cmp::Reverse(request.latency()));
    let Some(median) = by_latency.get(by_latency.len() / 2).map(|request| request.latency()) else {
        return Vec::new();
    };
    let least = (median * TIMES).max(median + LONGER);
    by_latency.truncate(by_latency.len() / SLOWEST);
    by_latency.retain(|request| request.latency() >= least);
    by_latency
}

/// When one of the slow requests or several were under way, and no other one ended.
fn alone(slow: &[&Under], requests: &[Under], first: Time, last: Time) -> Vec<(Time, Time)> {
    let mut spans: Vec<(Time, Time)> =
        slow.iter().map(|request| (request.from.max(first), request.to.min(last))).collect();
    spans.retain(|(from, to)| from < to);
    spans.sort_unstable();
    let mut joined: Vec<(Time, Time)> = Vec::new();
    for (from, to) in spans {
        match joined.last_mut().filter(|before| from <= before.1) {
            Some(before) => before.1 = before.1.max(to),
            None => joined.push((from, to)),
        }
    }
    let is_slow =
        |request: &Under| slow.first().is_some_and(|_| request.latency() >= slow[slow.len() - 1].latency());
    let mut ends: Vec<Time> =
        requests.iter().filter(|request| !is_slow(request)).map(|request| request.to).collect();
    ends.sort_unstable();
    let before = |moment: Time| ends.partition_point(|end| *end <= moment);
    // With the slow ones all end that came after them.
    let nearly = |from: Time, to: Time| from + Span::from_secs_f64(NEARLY * to.since(from).as_secs_f64());
    joined.retain(|(from, to)| before(*from) == before(nearly(*from, *to)));
    joined
}

/// From one answer to the next, when the server stood still.
fn stalls(requests: &[Under], first: Time, last: Time) -> Vec<(Time, Time)> {
    let is_within = |moment: &Time| (first..last).contains(moment);
    let sorted = |mut moments: Vec<Time>| {
        moments.sort_unstable();
        moments
    };
    let came = sorted(requests.iter().map(|request| request.from).collect());
    let mut ended = sorted(requests.iter().map(|request| request.to).filter(is_within).collect());
    let seconds = last.since(first).as_secs_f64();
    let long = Span::from_secs_f64(EXPECTED * seconds / ended.len().max(1) as f64).max(SHORT);
    ended.insert(0, first);
    ended.push(last);
    let before = |moment: Time| came.partition_point(|came| *came < moment);
    let gaps = ended.windows(2).map(|ends| (ends[0], ends[1]));
    gaps.filter(|(from, to)| to.since(*from) >= long && before(*to) - before(*from) >= FEW).collect()
}

/// A request, from when it was to be sent to its end.
struct Under {
    from: Time,
    to: Time,
}

impl Under {
    fn way(row: &RequestRow) -> Self {
        Self { from: row.intended, to: row.ended() }
    }

    fn latency(&self) -> Span {
        self.to.since(self.from)
    }
}

#[cfg(test)]
mod tests {
    use units::Span;

    use super::*;

    /// Of `rate` requests/s for 3 s that take a millisecond each; what comes in the first `stop` of each second is answered
    /// after that.
    fn stopped(rate: u64, stop: Span) -> Option<Stalls> {
        let request = |number: u64| {
            let from = Time::ZERO + Span::from_nanos(number * 1_000_000_000 / rate);
            let second = Time::ZERO + Span::from_secs(from.as_nanos() / 1_000_000_000);
            let free = second + stop;
            Under { from, to: from.max(free) + Span::from_millis(1) }
        };
        let requests: Vec<Under> = (0..3 * rate).map(request).collect();
        let looks: Vec<Time> = (1..=15).map(|at| Time::ZERO + Span::from_millis(200 * at - 7)).collect();
        Stalls::of(&requests, (Time::ZERO, Time::ZERO + Span::from_secs(3)), &looks)
    }

    #[test]
    fn a_stop_of_a_tenth_of_a_second_is_found_and_none_where_there_is_none() {
        for stop in [80, 100, 280] {
            let stalls = stopped(400, Span::from_millis(stop)).unwrap();
            assert_eq!(stalls.number, 3);
            assert!(stalls.length.as_nanos().abs_diff(stop * 1_000_000) < 5_000_000, "{stalls:?}");
            assert!(stalls.of_slowest > 0.8, "{stalls:?}");
            assert_eq!(stalls.amid.len(), if stop < 200 { 0 } else { 3 }, "{stalls:?}");
        }
        assert_eq!(stopped(400, Span::ZERO), None);
        assert_eq!(stopped(400, Span::from_millis(5)), None);
        // Of few all that is seen is that some are slow.
        let seldom = stopped(10, Span::from_millis(150)).unwrap();
        assert_eq!((seldom.number, seldom.length), (3, Span::from_millis(151)));
        assert_eq!(stopped(10, Span::ZERO), None);
        // One page that takes long, among many that are answered meanwhile.
        let request = |number: u64| {
            let from = Time::ZERO + Span::from_millis(5 * number);
            let takes = if number.is_multiple_of(100) { 100 } else { 5 };
            Under { from, to: from + Span::from_millis(takes) }
        };
        let requests: Vec<Under> = (0..600).map(request).collect();
        let looks: Vec<Time> = (1..=15).map(|at| Time::ZERO + Span::from_millis(200 * at)).collect();
        assert_eq!(Stalls::of(&requests, (Time::ZERO, Time::ZERO + Span::from_secs(3)), &looks), None);
    }
}
