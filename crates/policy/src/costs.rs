//! [`Costs`]: what requests take of the server, learnt by kind.
//!
//! The server shares itself among the requests inside it: while `n` are inside, each gets an `n`th part of
//! every second. What a request has had of that by its end is its cost, whichever others were there. It is in
//! seconds of the whole server, and only compared with others of its sort, so it does not matter how many
//! processors there are, as long as all of them have something to do.

use alloc::vec;
use alloc::vec::Vec;

use units::{ClassId, Time};

use crate::kind::Kind;

/// Kinds whose cost is remembered; more than these push each other out.
const REMEMBERED: usize = 1024;
/// How far one request moves what is known of its kind.
const STEP: f64 = 1.0 / 8.0;
/// A request is short if it costs less than this part of what those inside cost each. A request that is let in
/// beside one that still needs `r` takes twice its own cost `c` instead of `r` and then `c`, and holds the
/// other one up by `c`: that is a gain for `c < r / 2`, and half of what those inside cost is still to do.
const SHORT: f64 = 0.25;
/// A kind is small if it costs less than this part of what requests cost on average. However many there are, all that
/// is small together is no more than this part of the work.
const SMALL: f64 = 0.125;
/// How many requests the average is of, about.
const AVERAGED: f64 = 256.0;

/// A request when it was dispatched.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Begun {
    /// [`Costs::work`] by then.
    at: f64,
    /// Cost that was expected of it.
    expected: f64,
    /// Whether it went beside others because it is short.
    aside: bool,
}

#[derive(Debug, Clone, Copy)]
struct Known {
    kind: Kind,
    /// Mean cost.
    cost: f64,
    work: Work,
    /// Whether the server was silent in the last response.
    streams: bool,
    /// How sure it is that they idle in the server, and below zero, that they do not.
    idles: i8,
}

impl Known {
    fn new(kind: Kind, cost: f64) -> Self {
        Self { kind, cost, work: Work::default(), streams: false, idles: 0 }
    }
}

/// What a kind costs relative to others, however busy the server is. With few inside, each has a larger part of
/// the server than it can use, and all seem to cost more by the same factor: that is taken out. It moves slowly, so that
/// it is the same for sizes of the window that are compared.
#[derive(Debug, Clone, Copy, Default)]
struct Work {
    /// Logarithm of it.
    log: f64,
    value: f64,
    /// The mean of what the factor leaves, in which one that took long counts for as long.
    mean: f64,
    seen: f64,
}

impl Work {
    const REMEMBERED: f64 = 256.0;

    fn is_below(&self, bound: f64) -> bool {
        self.seen > 0.0 && self.mean < bound
    }

    fn learn(&mut self, log: f64) {
        self.seen = (self.seen + 1.0).min(Self::REMEMBERED);
        self.log += (log - self.log) / self.seen;
        self.value = libm::exp(self.log);
        self.mean += (libm::exp(log) - self.mean) / self.seen;
    }
}

/// More does not make it surer.
const SURE: i8 = 3;
/// A kind that idles, and not only one of it that took long.
const IDLES: i8 = 2;

/// The requests of one class inside the server, together.
#[derive(Debug, Clone, Copy, Default)]
struct Inside {
    requests: u32,
    /// Of these, [`Begun::aside`].
    aside: u32,
    /// Costs that were expected.
    expected: f64,
    /// Sum of [`Begun::at`].
    begun: f64,
}

/// What is known of costs, and of those inside the server.
#[derive(Debug)]
pub(crate) struct Costs {
    known: Vec<Option<Known>>,
    /// Mean cost of all requests.
    mean: f64,
    /// The same of what [`Work`] says they are.
    mean_work: f64,
    /// Logarithm of the factor by which costs lately were more than [`Work`] says.
    factor: f64,
    /// What a request has had by `now` that was always inside.
    work: f64,
    now: Time,
    inside: Vec<Inside>,
}

impl Costs {
    pub(crate) fn new(classes: usize) -> Self {
        let inside = vec![Inside::default(); classes];
        Self {
            known: vec![None; REMEMBERED],
            mean: 0.0,
            mean_work: 0.0,
            factor: 0.0,
            work: 0.0,
            now: Time::ZERO,
            inside,
        }
    }

    /// A request of that class and kind is dispatched, beside others or when its turn has come.
    pub(crate) fn begin(&mut self, now: Time, class: ClassId, kind: Kind, aside: bool) -> Begun {
        self.advance(now);
        let begun = Begun { at: self.work, expected: self.expected(kind), aside };
        let inside = &mut self.inside[class.index()];
        inside.requests += 1;
        inside.aside += u32::from(aside);
        inside.expected += begun.expected;
        inside.begun += begun.at;
        begun
    }

    /// The server is done with it; `kind` is `None` if what it cost says nothing of others. Gives that.
    pub(crate) fn end(&mut self, now: Time, class: ClassId, kind: Option<Kind>, begun: Begun) -> f64 {
        self.advance(now);
        let inside = &mut self.inside[class.index()];
        inside.requests = inside.requests.saturating_sub(1);
        if inside.requests == 0 {
            // Nothing is left of what was rounded.
            *inside = Inside::default();
        } else {
            inside.aside -= u32::from(begun.aside);
            inside.expected -= begun.expected;
            inside.begun -= begun.at;
        }
        let cost = self.work - begun.at;
        if let Some(kind) = kind {
            self.learn(kind, cost);
        }
        if self.inside.iter().all(|inside| inside.requests == 0) {
            self.work = 0.0;
        }
        cost
    }

    /// Cost of a kind: what its last requests took, or what all did as long as it is not known.
    pub(crate) fn expected(&self, kind: Kind) -> f64 {
        self.known(kind).map_or(self.mean, |known| known.cost)
    }

    /// What a request of a kind is to the server, beside others: comparable over time, unlike
    /// [`expected`](Self::expected).
    pub(crate) fn work_of(&self, kind: Kind) -> f64 {
        self.known(kind).filter(|known| known.work.seen > 0.0).map_or(self.mean, |known| known.work.value)
    }

    /// Whether requests of that kind are so little work beside most that other clients do not feel it.
    pub(crate) fn is_small(&self, kind: Kind) -> bool {
        self.known(kind).is_some_and(|known| known.work.is_below(SMALL * self.mean_work))
    }

    /// Whether that is known, and not from the first ones.
    pub(crate) fn is_familiar(&self, kind: Kind) -> bool {
        const FEW: f64 = 4.0;
        self.known(kind).is_some_and(|known| known.work.seen > FEW)
    }

    /// Whether the server was silent in a response of that kind.
    pub(crate) fn streams(&mut self, kind: Kind, streams: bool) {
        self.remember(kind).streams = streams;
    }

    fn remember(&mut self, kind: Kind) -> &mut Known {
        let known = &mut self.known[place(kind)];
        if known.is_none_or(|known| known.kind != kind) {
            *known = None;
        }
        known.get_or_insert(Known::new(kind, self.mean))
    }

    fn known(&self, kind: Kind) -> Option<&Known> {
        self.known[place(kind)].as_ref().filter(|known| known.kind == kind)
    }

    /// Whether the server was silent in the last response of that kind.
    pub(crate) fn is_stream(&self, kind: Kind) -> bool {
        self.known(kind).is_some_and(|known| known.streams)
    }

    /// A request of that kind has idled in the server, or was answered soon.
    pub(crate) fn idled(&mut self, kind: Kind, idled: bool) {
        let known = self.remember(kind);
        known.idles = (known.idles + if idled { 1 } else { -1 }).clamp(-SURE, SURE);
    }

    /// A request of that kind is in a server of which nothing comes out.
    pub(crate) fn suspect(&mut self, kind: Kind) {
        let known = self.remember(kind);
        if known.idles == 0 {
            known.idles = 1;
        }
    }

    /// Whether requests of that kind are mostly answered soon.
    pub(crate) fn is_quick(&self, kind: Kind) -> bool {
        self.known(kind).is_some_and(|known| known.idles < 0)
    }

    /// Whether one of that kind may be idle in the server.
    pub(crate) fn is_suspect(&self, kind: Kind) -> bool {
        self.known(kind).is_some_and(|known| known.idles > 0)
    }

    /// Whether the next of that kind is likely to idle.
    pub(crate) fn does_idle(&self, kind: Kind) -> bool {
        self.known(kind).is_some_and(|known| known.idles >= IDLES)
    }

    /// Requests at least as important as `class` inside the server whose turn it was.
    pub(crate) fn in_turn(&self, class: ClassId) -> u32 {
        self.inside[..=class.index()].iter().map(|inside| inside.requests - inside.aside).sum()
    }

    /// The cost below which a request of `class` is short beside those at least as important that are
    /// inside the server. What has taken longer than was expected of it counts for as much.
    pub(crate) fn short_below(&self, now: Time, class: ClassId) -> f64 {
        let work = self.work_at(now);
        let cost = |inside: &Inside| inside.expected.max(f64::from(inside.requests) * work - inside.begun);
        let inside = &self.inside[..=class.index()];
        let requests: u32 = inside.iter().map(|inside| inside.requests).sum();
        SHORT * inside.iter().map(cost).sum::<f64>() / f64::from(requests.max(1))
    }

    fn work_at(&self, now: Time) -> f64 {
        let inside: u32 = self.inside.iter().map(|inside| inside.requests).sum();
        match inside {
            0 => self.work,
            inside => self.work + now.since(self.now).as_secs_f64() / f64::from(inside),
        }
    }

    fn advance(&mut self, now: Time) {
        self.work = self.work_at(now);
        self.now = now;
    }

    fn learn(&mut self, kind: Kind, cost: f64) {
        /// The shortest that is told apart, in seconds.
        const LEAST: f64 = 1e-9;
        self.mean += STEP * (cost - self.mean);
        let slot = &mut self.known[place(kind)];
        let known = match slot {
            Some(known) if known.kind == kind => {
                known.cost += STEP * (cost - known.cost);
                known.streams = false;
                known
            }
            other => other.insert(Known::new(kind, cost)),
        };
        let log = libm::log(cost.max(LEAST));
        let before = known.work;
        known.work.learn(log - self.factor);
        self.mean_work += (known.work.mean - self.mean_work) / AVERAGED;
        if before.seen > 0.0 {
            self.factor += STEP * (log - before.log - self.factor);
        }
    }
}

/// Where a kind is kept. Fibonacci hashing (Knuth, volume 3, section 6.4).
fn place(kind: Kind) -> usize {
    (kind.0.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - REMEMBERED.ilog2())) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    const PREMIUM: ClassId = ClassId(0);
    const BASIC: ClassId = ClassId(1);
    const PAGE: Kind = Kind(1);
    const IMAGE: Kind = Kind(2);

    fn at(millis: u64) -> Time {
        Time::from_nanos(millis * 1_000_000)
    }

    /// A page of 20 ms and an image of 2 ms are known, each after it was alone.
    fn known() -> Costs {
        let mut costs = Costs::new(2);
        let page = costs.begin(at(0), BASIC, PAGE, false);
        costs.end(at(20), BASIC, Some(PAGE), page);
        let image = costs.begin(at(30), PREMIUM, IMAGE, false);
        costs.end(at(32), PREMIUM, Some(IMAGE), image);
        costs
    }

    fn about(found: f64, millis: f64) {
        assert!((found * 1e3 - millis).abs() < 1e-6, "{} ms instead of {millis}", found * 1e3);
    }

    #[test]
    fn who_shares_the_server_costs_no_more() {
        let mut costs = known();
        let first = costs.begin(at(40), BASIC, PAGE, false);
        let second = costs.begin(at(50), PREMIUM, PAGE, false);
        // 10 ms alone, then 20 ms of which it gets half.
        costs.end(at(70), BASIC, Some(PAGE), first);
        about(costs.expected(PAGE), 20.0);
        // Half of 20 ms, then 10 ms alone.
        costs.end(at(80), PREMIUM, Some(PAGE), second);
        about(costs.expected(PAGE), 20.0);
        about(costs.expected(IMAGE), 2.0);
    }

    #[test]
    fn what_is_not_known_costs_what_all_do() {
        let costs = known();
        about(costs.expected(Kind(3)), 20.0 / 8.0 * 7.0 / 8.0 + 2.0 / 8.0);
    }

    #[test]
    fn short_is_what_costs_little_beside_those_as_important() {
        let mut costs = known();
        about(costs.short_below(at(40), PREMIUM), 0.0);
        costs.begin(at(40), BASIC, PAGE, false);
        about(costs.short_below(at(40), PREMIUM), 0.0);
        let image = costs.begin(at(40), PREMIUM, IMAGE, true);
        assert_eq!((costs.in_turn(PREMIUM), costs.in_turn(BASIC)), (0, 1));
        about(costs.short_below(at(40), PREMIUM), 0.5);
        costs.end(at(42), PREMIUM, Some(IMAGE), image);
        costs.begin(at(42), PREMIUM, PAGE, false);
        about(costs.short_below(at(42), PREMIUM), 5.0);
        about(costs.short_below(at(42), BASIC), 5.0);
        // After 160 of the premium page's milliseconds it has had half of each, four times what a page takes.
        about(costs.short_below(at(202), PREMIUM), 20.0);
        assert_eq!((costs.in_turn(PREMIUM), costs.in_turn(BASIC)), (1, 2));
    }

    #[test]
    fn all_that_is_remembered_has_a_place() {
        let mut costs = Costs::new(1);
        for number in 0..5000 {
            let begun = costs.begin(at(number), PREMIUM, Kind(number), false);
            costs.end(at(number + 1), PREMIUM, Some(Kind(number)), begun);
        }
        let kept = costs.known.iter().filter(|known| known.is_some()).count();
        assert!(kept > REMEMBERED * 9 / 10, "{kept}");
    }
}
