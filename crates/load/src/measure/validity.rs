//! Are the figures the server's, or the generator's?

use record::Window;
use stats::Histogram;
use stats::significance;
use traffic::PoissonCheck;
use units::Span;

use crate::measure::shortage::Shortage;

/// Above this a generator thread no longer reacts when a response comes.
const MAX_CPU: f64 = 0.9;
/// The share of the time for which a thread may wait for a processor if it waits for longer than
/// it runs. A response that comes meanwhile is stamped when the others' turn is over, and that
/// takes milliseconds, not the microseconds for which the generator itself is busy.
const MAX_WAITED: f64 = 0.1;
const MAX_LAG: Span = Span::from_millis(1);
/// The share of arrivals that may begin later than that.
const MAX_LATE: f64 = 0.01;
/// More must be late for sure, at the 5 % level: two late starts among fifty prove nothing.
const SIGNIFICANCE: f64 = 0.05;
/// The longest single delay, as a share of the window.
const MAX_LAG_OF_WINDOW: f64 = 0.01;

/// The share of what the schedule wants by which the starts may differ from it...
const MAX_OFF: f64 = 0.01;
/// ... beyond what chance does: more than so many standard deviations are one run in ten thousand.
const CHANCE_Z: f64 = 4.0;

/// What the generator saw of itself.
pub(crate) struct Observed<'a> {
    /// Share of one processor that its thread used in the window.
    pub(crate) cpu: f64,
    /// Share of the window in which it could have run but others had the processor.
    pub(crate) waited: f64,
    pub(crate) lag: &'a Histogram,
    pub(crate) window: Window,
    /// Connections that failed by the generator's fault.
    pub(crate) lacked: Shortage,
    /// Whether all that the schedule wanted in the window was begun.
    pub(crate) issued: bool,
    /// How likely the starts are Poisson; `None` where they are not meant to be, or too few.
    pub(crate) poisson: Option<f64>,
}

/// Why the figures are not the server's; nothing when they are.
pub(crate) fn judge(observed: &Observed<'_>) -> Vec<String> {
    let mut why = Vec::new();
    if observed.cpu > MAX_CPU {
        why.push(format!(
            "the generator used {:.0} % of its processor, more than {:.0} %: it, not the server, may have set the rate",
            observed.cpu * 100.0,
            MAX_CPU * 100.0,
        ));
    } else if observed.cpu + observed.waited > MAX_CPU || observed.waited > observed.cpu.max(MAX_WAITED) {
        // To the server a generator that is kept from running is like one that is too slow.
        why.push(format!(
            "the generator used {:.0} % of a processor and waited for one for {:.0} % of the time, because others used it; pin them apart or leave the machine alone",
            observed.cpu * 100.0,
            observed.waited * 100.0,
        ));
    }
    let late = observed.lag.count_above(MAX_LAG);
    if is_more_than(late, MAX_LATE * observed.lag.count() as f64) {
        why.push(format!(
            "the generator was late: {late} of {} arrivals and pages began more than {MAX_LAG} after their time, more than {:.0} %",
            observed.lag.count(),
            MAX_LATE * 100.0,
        ));
    }
    let most = observed.window.length().mul_f64(MAX_LAG_OF_WINDOW);
    if observed.lag.max() > most {
        why.push(format!(
            "the generator stood still for {:.1}, more than 1 % of the measuring window",
            observed.lag.max(),
        ));
    }
    let Shortage { descriptors, ports } = observed.lacked;
    if descriptors > 0 {
        why.push(format!(
            "{descriptors} connections failed because the generator had no descriptor left; raise `ulimit -n`"
        ));
    }
    if ports > 0 {
        why.push(format!(
            "{ports} connections failed because the generator had no port left; keep connections open, widen net.ipv4.ip_local_port_range, or spread classes over source addresses"
        ));
    }
    if !observed.issued {
        why.push("the generator could not begin all that the schedule wanted".to_owned());
    }
    if let Some(p) = observed.poisson.filter(|p| *p < PoissonCheck::SUSPICIOUS) {
        why.push(format!(
            "arrivals were not Poisson (chi-square test of the gaps between starts, p {}): the generator was held up",
            if p < 1e-12 { "below 1e-12".to_owned() } else { format!("= {p:.1e}") },
        ));
    }
    why
}

/// What an open loop is to begin in the window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ExpectedStarts {
    /// How much, on average over all seeds.
    pub(crate) mean: f64,
    /// By how much it differs from one seed to another.
    pub(crate) deviation: f64,
}

/// Says so when not as much as the schedule wants has begun. A server cannot hold back an open
/// loop, so that its back-pressure, which lowers the rate of responses, explains nothing here.
pub(crate) fn judge_starts(begun: u64, expected: ExpectedStarts, classes: usize) -> Option<String> {
    let ExpectedStarts { mean, deviation } = expected;
    // Arrivals of each class are spaced on their own, and its first and last may be just outside.
    let chance = CHANCE_Z * deviation + classes.max(1) as f64 + 1.0;
    ((begun as f64 - mean).abs() > MAX_OFF * mean + chance).then(|| {
        format!(
            "the generator began {begun} arrivals where the schedule has {mean:.0}; a server cannot hold them back, so it, not the server, set the rate",
        )
    })
}

/// Whether `count` events are too many to be chance where `expected` were allowed: the upper tail
/// of a Poisson count.
fn is_more_than(count: u64, expected: f64) -> bool {
    significance::poisson_tail(count, expected).is_some_and(|chance| chance < SIGNIFICANCE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Time;

    fn check(change: impl FnOnce(&mut Observed<'_>), lags: &[Span], reasons: usize) {
        let mut lag = Histogram::new();
        lags.iter().for_each(|span| lag.record(*span));
        let window = Window::new(Time::ZERO, Span::from_secs(10));
        let mut observed = Observed {
            cpu: 0.5,
            waited: 0.0,
            lag: &lag,
            window,
            lacked: Shortage::default(),
            issued: true,
            poisson: None,
        };
        change(&mut observed);
        let why = judge(&observed);
        assert_eq!(why.len(), reasons, "{why:?}");
    }

    #[test]
    fn each_fault_of_the_generator_is_named() {
        check(|_| {}, &[], 0);
        check(|observed| observed.cpu = 0.91, &[], 1);
        check(|observed| observed.waited = 0.39, &[], 0);
        check(|observed| observed.waited = 0.41, &[], 1);
        check(|observed| (observed.cpu, observed.waited) = (0.2, 0.19), &[], 0);
        check(|observed| (observed.cpu, observed.waited) = (0.2, 0.21), &[], 1);
        check(|observed| (observed.cpu, observed.waited) = (0.01, 0.09), &[], 0);
        check(|observed| observed.lacked.ports = 1, &[], 1);
        check(|observed| observed.lacked.descriptors = 1, &[], 1);
        check(|observed| observed.issued = false, &[], 1);
        check(|observed| observed.poisson = Some(1e-3), &[], 0);
        check(|observed| observed.poisson = Some(1e-5), &[], 1);
        check(|_| {}, &[Span::from_micros(900); 100], 0);
        check(|_| {}, &[Span::from_micros(1100); 100], 1);
        let mut some = [Span::from_micros(50); 50];
        some[0] = Span::from_millis(5);
        check(|_| {}, &some, 0);
        some[1] = Span::from_millis(5);
        check(|_| {}, &some, 0);
        some[2] = Span::from_millis(5);
        check(|_| {}, &some, 1);
        let mut few = [Span::from_micros(50); 15];
        few[7] = Span::from_millis(5);
        check(|_| {}, &few, 0);
        let mut once = vec![Span::from_micros(50); 1000];
        once.push(Span::from_millis(99));
        check(|_| {}, &once, 0);
        once.push(Span::from_millis(101));
        check(|_| {}, &once, 1);
    }

    #[test]
    fn starts_that_the_schedule_did_not_want_are_told_from_chance() {
        let constant = ExpectedStarts { mean: 10_000.0, deviation: 0.0 };
        let bursts = ExpectedStarts { mean: 10_000.0, deviation: 400.0 };
        for (begun, wanted, fault) in [
            (9_999, constant, false),
            (9_899, constant, false),
            (9_890, constant, true),
            (10_110, constant, true),
            (8_400, bursts, false),
            (8_200, bursts, true),
            (0, constant, true),
        ] {
            assert_eq!(judge_starts(begun, wanted, 2).is_some(), fault, "{begun} of {wanted:?}");
        }
    }
}
