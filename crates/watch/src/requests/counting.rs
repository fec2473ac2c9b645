//! [`Counting`]: every request counted, as long as that costs no more than it may.

use std::collections::BTreeMap;

use units::{Ratio, Span, Time};

use super::Classes;
use super::calibration::UnitCosts;
use crate::addresses::Addresses;
use crate::bpf::runs::{Kind, Runs};
use crate::counts::{self, Counted};
use crate::servers::Server;
use crate::{Error, clock};

/// Of the budget. The rest is for windows, which show more of requests.
const SHARE: f64 = 0.8;
/// And of the processors that are idle, up to the first that the server might use: what it costs there, the server does
/// not miss.
const OF_IDLE: f64 = 0.05;
/// A server that uses less, in processors, is taken to use as much: what it costs matters when one is all in use.
const MIN_BUSY: f64 = 1.0;
/// So many seconds of processor time may be spent beyond that: some ten thousand requests that come at once are counted
/// nevertheless.
const CREDIT: f64 = 0.05;
/// It is taken up again when it would cost so much of what it may, so that it is not taken up for a moment.
const AGAIN: f64 = 0.7;
/// How much the last window says of what it costs; the rest is what those before it said.
const LAST_WINDOW: f64 = 0.5;
/// Where nothing else says whether it would fit again, it is tried after so long.
const TRIED_AFTER: Span = Span::from_secs(30);
/// What was spent beyond the credit when it stopped is not paid back for longer.
const MAX_DEBT: f64 = 2.0 * CREDIT;

/// Processors, of late.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Busy {
    /// That the server used.
    pub(crate) server: f64,
    /// That nothing used.
    pub(crate) idle: f64,
    /// That watching all besides requests took.
    pub(crate) besides: f64,
}

/// By program.
pub(super) type CountingRuns = BTreeMap<&'static str, (Kind, Runs)>;

/// Counts every request, where the kernel lets it.
pub(super) struct Counting {
    pub(super) traced: Result<counts::Traced, Error>,
    before: Counted,
    since: Time,
    weighed: Time,
    /// Counted since the last look, in so long a time, before it was stopped.
    gathered: Option<(Counted, Span)>,
    /// That no window stands for yet.
    uncounted: Uncounted,
    thrift: Thrift,
    /// The shortest mean time of a run of late, in seconds, by program.
    fastest: BTreeMap<&'static str, f64>,
}

/// Time in which nothing was counted.
#[derive(Debug, Clone, Copy, Default)]
struct Uncounted {
    time: Span,
    /// Since when that goes on.
    since: Option<Time>,
    /// For so much of it windows stand, and so much there was at the last look.
    stood_for: Span,
    told: Span,
}

impl Uncounted {
    fn until(&self, now: Time) -> Span {
        self.time + self.since.map_or(Span::ZERO, |since| now.since(since))
    }

    fn goes_on(&mut self, goes_on: bool, now: Time) {
        (self.time, self.since) = (self.until(now), goes_on.then_some(now));
    }
}

/// So many runs have a mean.
const ENOUGH: u64 = 20;
/// And the shortest of them is the longer ago the less it says of what a run takes.
const FORGET: f64 = 1.05;

impl Counting {
    /// Begins, for this share of the processor time that the server uses, or for any.
    pub(super) fn begin(
        at: &Addresses,
        classes: &Classes,
        namespace: u32,
        servers: &[Server],
        share: Option<Ratio>,
    ) -> Self {
        Self {
            traced: counts::Traced::open(at, classes.bounds(), namespace, servers),
            before: Counted::default(),
            since: clock::monotonic(),
            weighed: clock::monotonic(),
            gathered: None,
            uncounted: Uncounted::default(),
            thrift: Thrift::new(share),
            fastest: BTreeMap::new(),
        }
    }

    /// Whether it does, now.
    pub(super) fn is_on(&self) -> bool {
        self.traced.is_ok() && self.thrift.is_on
    }

    /// Time up to now in which nothing was counted, since it would have cost more than it may, and for which no window
    /// stands yet: since the last look, and in all.
    pub(super) fn tell_uncounted(&mut self, now: Time) -> [Span; 2] {
        let Uncounted { stood_for, told, .. } = self.uncounted;
        let until = self.uncounted.until(now);
        self.uncounted.told = until;
        [told.max(stood_for), stood_for].map(|known| until.saturating_sub(known))
    }

    /// A window stands for it.
    pub(super) fn take_uncounted(&mut self, now: Time) -> Span {
        let until = self.uncounted.until(now);
        until.saturating_sub(std::mem::replace(&mut self.uncounted.stood_for, until))
    }

    /// Whether there were connections whose requests are counted, while [windows](super::windows) do not see them as they
    /// are: streams share one.
    pub(super) fn is_beyond_windows(&self) -> bool {
        self.before.protocols.http2 + self.before.protocols.https2 > 0
    }

    fn running(&mut self) -> Option<&mut counts::Traced> {
        let is_on = self.is_on();
        self.traced.as_mut().ok().filter(|_| is_on)
    }

    /// Looks inside TLS where servers use a library that can be asked.
    pub(super) fn look_inside(&mut self, servers: &[Server]) {
        if let Some(traced) = self.running() {
            traced.look_inside(servers);
        }
    }

    /// What has been counted until now, before all could be, is not of the watch.
    pub(super) fn start(&mut self) -> Result<(), Error> {
        if let Ok(traced) = &mut self.traced {
            (self.before, self.since) = (traced.read()?, clock::monotonic());
        }
        Ok(())
    }

    /// What has been counted so far, for one who asks many times a second; none while nothing is.
    pub(super) fn read_often(&mut self) -> Result<Option<Counted>, Error> {
        self.running().map(counts::Traced::read_often).transpose()
    }

    /// What has been counted since the last time, and how long it was counted.
    pub(super) fn look(&mut self) -> Result<Option<(Counted, Span)>, Error> {
        if self.is_on() {
            self.gather()?;
        }
        Ok(self.gathered.take())
    }

    fn gather(&mut self) -> Result<(), Error> {
        let Ok(traced) = &mut self.traced else { return Ok(()) };
        let (counted, now) = (traced.read()?, clock::monotonic());
        let (all, time) = self.gathered.get_or_insert_default();
        all.add(&counted.since(&self.before));
        *time += now.since(std::mem::replace(&mut self.since, now));
        self.before = counted;
        Ok(())
    }

    /// How often its programs have run, and for how long, as far as runs were measured.
    pub(super) fn runs(&self) -> CountingRuns {
        self.traced.as_ref().map(counts::Traced::runs).unwrap_or_default()
    }

    /// Processor time that its programs have taken since they had run so often, and getting to them. Whatever runs in
    /// between only adds to a run's time, so that the shortest mean counts.
    pub(super) fn spent_since(&mut self, earlier: &CountingRuns, getting_there: &UnitCosts) -> Span {
        let mut spent = Span::ZERO;
        for (name, (kind, now)) in self.runs() {
            let runs = now.since(earlier.get(name).map(|(_, runs)| *runs).unwrap_or_default());
            let mean = runs.time.as_secs_f64() / runs.count.max(1) as f64;
            let fastest = self.fastest.entry(name).or_insert(f64::INFINITY);
            *fastest *= FORGET;
            if runs.count >= ENOUGH {
                *fastest = fastest.min(mean);
            }
            spent += Span::from_secs_f64(mean.min(*fastest) * runs.count as f64);
            spent += getting_there.of(kind, runs.count);
        }
        spent
    }

    /// What it costs, or would, in processors.
    pub(super) fn cost(&self) -> f64 {
        self.thrift.cost.filter(|_| self.is_on()).unwrap_or_default()
    }

    /// What it may cost depends on what the server uses, and on what is left.
    pub(super) fn note_busy(&mut self, busy: Busy) {
        self.thrift.busy = Some(busy);
    }

    /// In a window there were so many requests per second, and counting cost so much of a processor.
    pub(super) fn learn(&mut self, cost: f64, rate: f64) {
        // How many there are is not known then.
        if self.is_on() || !self.is_beyond_windows() {
            self.thrift.learn(cost, rate);
        }
    }

    /// Stops where it has cost more than it may, or takes it up again.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub(super) fn weigh(&mut self, servers: &[Server]) -> Result<(), Error> {
        let now = clock::monotonic();
        let time = now.since(std::mem::replace(&mut self.weighed, now));
        let stopped_for = self.uncounted.since.map_or(Span::ZERO, |since| now.since(since));
        let is_tried = self.is_beyond_windows() && stopped_for > TRIED_AFTER;
        if self.traced.is_err() || !(self.thrift.weigh(time) || is_tried) {
            return Ok(());
        }
        if let (Ok(traced), Some(_)) = (&mut self.traced, self.uncounted.since) {
            self.thrift.is_on = false;
            traced.attach(servers)?;
            self.thrift.is_on = true;
            self.start()?;
            self.uncounted.goes_on(false, self.since);
            return Ok(());
        }
        // What is known is told with the next look.
        self.gather()?;
        self.uncounted.goes_on(true, self.since);
        if let Ok(traced) = &mut self.traced {
            traced.detach();
        }
        Ok(())
    }
}

/// Whether counting is worth what it costs.
#[derive(Debug, Clone, Copy)]
struct Thrift {
    share: Option<f64>,
    /// None as long as it is not known.
    busy: Option<Busy>,
    is_on: bool,
    /// What it costs, or would, in processors; none before the first window.
    cost: Option<f64>,
    /// What a request costs, in seconds.
    price: f64,
    /// What has been spent beyond what it may cost, in seconds.
    debt: f64,
}

impl Thrift {
    fn new(share: Option<Ratio>) -> Self {
        let share = share.map(Ratio::as_f64);
        Self { share, busy: None, is_on: true, cost: None, price: 0.0, debt: 0.0 }
    }

    /// As [`Counting::learn`].
    fn learn(&mut self, cost: f64, rate: f64) {
        let average = |before: f64, last: f64| before + LAST_WINDOW * (last - before);
        if self.is_on && rate > 0.0 {
            let price = cost / rate;
            self.price = if self.price > 0.0 { average(self.price, price) } else { price };
        }
        let cost = if self.is_on { cost } else { self.price * rate };
        self.cost = Some(self.cost.map_or(cost, |before| average(before, cost)));
    }

    /// After so much more time; whether it is to be stopped or taken up.
    fn weigh(&mut self, time: Span) -> bool {
        let Some((share, Busy { server, idle, .. })) = self.share.zip(self.busy) else { return false };
        let cost = self.cost.unwrap_or_default();
        let spent = if self.is_on { cost } else { 0.0 };
        let allowed = SHARE * share * server.max(MIN_BUSY) + OF_IDLE * idle.min(1.0 - server).max(0.0);
        self.debt = (self.debt + (spent - allowed) * time.as_secs_f64()).clamp(0.0, MAX_DEBT);
        let was_on = self.is_on;
        self.is_on = if was_on { self.debt <= CREDIT } else { self.debt <= 0.0 && cost <= AGAIN * allowed };
        self.is_on != was_on
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thrift(server: f64, idle: f64) -> Thrift {
        let mut thrift = Thrift::new(Some(Ratio::clamped(0.01)));
        thrift.busy = Some(Busy { server, idle, besides: 0.0 });
        thrift
    }

    /// Requests cost 2 us each to count; a processor is all in use, 1 % of which may be spent.
    #[test]
    fn as_many_are_counted_as_the_budget_is_for() {
        let mut thrift = thrift(1.0, 0.0);
        let mut weigh = |rate: f64, windows: u32| {
            for _ in 0..windows {
                let cost = if thrift.is_on { 2e-6 * rate } else { 0.0 };
                thrift.learn(cost, rate);
                thrift.weigh(Span::from_secs(1));
            }
            thrift.is_on
        };
        assert!(weigh(3_900.0, 1_000));
        assert!(weigh(20_000.0, 1), "it may come to more for a moment");
        assert!(weigh(3_900.0, 1_000));
        assert!(!weigh(4_200.0, 1_000));
        assert!(!weigh(3_900.0, 1_000), "it is not taken up for a moment");
        assert!(weigh(2_500.0, 20));
        assert!(!weigh(40_000.0, 3));
        assert!(weigh(0.0, 20));
    }

    #[test]
    fn what_is_idle_may_be_spent_and_of_a_large_server_more() {
        for (server, idle, most) in [(4.0, 60.0, 0.032), (0.2, 1.8, 0.048), (0.2, 0.04, 0.01)] {
            for (times, is_on) in [(0.95, true), (1.1, false)] {
                let mut thrift = thrift(server, idle);
                for _ in 0..100 {
                    thrift.learn(times * most, 1e4);
                    thrift.weigh(Span::from_secs(1));
                }
                assert_eq!(thrift.is_on, is_on, "{server} used, {idle} idle, {times} of {most}");
            }
        }
    }

    /// Stopped from 1 s to 3 s, and again from 6 s on.
    #[test]
    fn time_that_was_not_counted_is_told_once_and_stood_for_once() {
        let at = |seconds| Time::ZERO + Span::from_secs(seconds);
        let mut counting = Counting::begin(&Addresses::default(), &Classes::default(), 0, &[], None);
        let seconds = |[lately, in_all]: [Span; 2]| [lately, in_all].map(Span::as_secs_f64);
        counting.uncounted.goes_on(true, at(1));
        assert_eq!(seconds(counting.tell_uncounted(at(2))), [1.0, 1.0]);
        counting.uncounted.goes_on(false, at(3));
        assert_eq!(seconds(counting.tell_uncounted(at(4))), [1.0, 2.0]);
        assert_eq!(seconds(counting.tell_uncounted(at(5))), [0.0, 2.0], "all of this look was counted");
        assert_eq!(counting.take_uncounted(at(5)), Span::from_secs(2));
        assert_eq!(seconds(counting.tell_uncounted(at(6))), [0.0, 0.0]);
        counting.uncounted.goes_on(true, at(6));
        assert_eq!(counting.take_uncounted(at(8)), Span::from_secs(2));
        assert_eq!(seconds(counting.tell_uncounted(at(9))), [1.0, 1.0]);
    }

    #[test]
    fn without_a_budget_all_are_counted() {
        let mut thrift = Thrift::new(None);
        thrift.busy = Some(Busy::default());
        thrift.learn(1.0, 1e6);
        assert!(!thrift.weigh(Span::from_secs(10)) && thrift.is_on);
    }
}
