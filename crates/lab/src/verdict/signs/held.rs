//! [`Held`]: requests that were read and are not answered, though nothing that the server waits for has grown.

use catalogue::Metric;
use catalogue::watch::limits;

use super::bounds::{BUSY, are_workers_taken, is_unread};
use super::processors::Processors;
use crate::verdict::alternating;
use crate::verdict::level::Level;

/// How many more there are in the mean than at a light load; nothing where that was not looked at.
pub(super) fn grown(metric: Metric, level: &Level, light: &Level) -> Option<f64> {
    Some(level.mean(metric)? - light.mean(metric).unwrap_or_default())
}

/// What is one, by Little's law.
pub(super) const ONE: std::ops::Range<f64> = 0.7..1.5;

/// How long a request takes at a light load, s, the median where that is less than the mean, which has what comes seldom and
/// takes long; and by Little's law how many are worked on at a time, if each takes as long.
pub(super) fn worked_on(level: &Level, light: &Level) -> (f64, f64) {
    let median = light.summary.latency.processing.p50;
    let alone = if median > 0.0 { light.in_server().min(median) } else { light.in_server() };
    (alone, level.served() * alone)
}

/// So many threads wait at any time, each for as long as at a light load, while requests lie unread on connections that were
/// accepted: all that serve them; and what for.
pub(super) fn threads_taken(level: &Level, light: &Level) -> Option<(f64, &'static str)> {
    const ALWAYS: f64 = 0.8;
    const AS_LONG: std::ops::Range<f64> = 0.7..1.4;
    let waits =
        [(limits::PROGRAM_PEER, "the other end of a connection"), (limits::PROGRAM_SLEEP, "a time to pass")];
    waits.into_iter().find_map(|(metric, what)| {
        let threads = level.mean(metric)?;
        let program = level
            .labels(metric)
            .max_by(|one, other| level.mean_of(metric, one).total_cmp(&level.mean_of(metric, other)))?;
        let values = level.values(metric, program);
        let most = values.iter().copied().fold(0.0, f64::max);
        let with_all = values.iter().filter(|value| **value >= most - 1.0).count() as f64;
        let each = threads / level.served().max(1e-9) / light.in_server().max(f64::MIN_POSITIVE);
        let are_all = most >= 2.0 && with_all >= ALWAYS * values.len() as f64;
        let is_more = grown(metric, level, light).is_some_and(|more| more >= 1.0);
        (are_all && is_more && AS_LONG.contains(&each) && is_unread(level)).then_some((most, what))
    })
}

/// Whether threads wait for anything but events, more of them than at a light load.
pub(super) fn is_anything_waited_for(level: &Level, light: &Level) -> bool {
    let waits = [
        limits::PROGRAM_LOCK,
        limits::PROGRAM_DISK,
        limits::PROGRAM_PEER,
        limits::PROGRAM_SLEEP,
        limits::PROGRAM_OTHER,
    ];
    waits.into_iter().any(|metric| grown(metric, level, light).is_some_and(|more| more >= 0.5))
}

/// Requests that were read and are not answered, in the mean.
pub(super) fn read(level: &Level) -> Option<f64> {
    let unread = level.mean(limits::SOCKETS_UNATTENDED).unwrap_or_default();
    Some((level.mean(limits::SOCKETS_OWED)? - unread).max(0.0))
}

/// Whether there is a thread for each of so many requests, and most of them neither run nor could: what they wait for is not
/// a processor, however busy these are.
fn has_a_thread_each(level: &Level, requests: f64) -> bool {
    const MOST: f64 = 0.5;
    let [standing, running] =
        [limits::PROGRAM_FUTEX, limits::PROGRAM_RUNNING].map(|metric| level.mean(metric).unwrap_or_default());
    // While all stand still garbage may be collected.
    standing >= requests && running <= MOST * requests && !level.is_stalled
}

/// Requests that were read and are not answered, more than at a light load, while no thread waits for anything but events,
/// and the server waits for no answer.
pub(super) struct Held {
    pub(super) requests: f64,
    /// How long each takes at a light load, and how many are worked on at a time if it does.
    alone: f64,
    worked_on: f64,
    /// Whether processors are at their end as well.
    is_busy: bool,
}

impl Held {
    pub(super) fn of(level: &Level, light: &Level) -> Option<Self> {
        const SOME: f64 = 5.0;
        /// While nothing is answered it has had no time to become many.
        const SOME_WHILE_STALLED: f64 = 1.5;
        let some = if level.is_stalled { SOME_WHILE_STALLED } else { SOME };
        let requests = read(level)? - read(light).unwrap_or_default();
        // What it may wait for has to be known for that.
        let is_elsewhere = is_anything_waited_for(level, light) || level.may_ask();
        let is_busy = Processors::of(level).is_some_and(|processors| processors.are_used());
        // A generator that is late takes its answers late.
        let is_held = requests >= some
            && level.is_valid
            && !is_elsewhere
            && (!is_busy || has_a_thread_each(level, requests))
            && !are_workers_taken(level)
            // In turns with something else it is no more than half of it.
            && alternating::indicator(level, light, BUSY).is_none();
        let (alone, worked_on) = worked_on(level, light);
        is_held.then_some(Self { requests, alone, worked_on, is_busy })
    }

    pub(super) fn said(&self, level: &Level, light: &Level) -> String {
        format!(
            "{:.0} more requests than at {:.0}/s had been read and not answered, while nothing that the server waited for had grown; {:.1}/s of {:.1} ms each are {:.1} that were worked on at a time.",
            self.requests,
            light.rate,
            level.served(),
            self.alone * 1e3,
            self.worked_on
        )
    }

    /// Whether hardly any are worked on at a time, so that it is a limit of the rate.
    pub(super) fn is_of_rate(&self) -> bool {
        self.worked_on < ONE.start && !self.is_busy
    }

    /// Whether it is one at a time, of threads of which many stand at a futex: those that wait for a lock, beside those
    /// that have nothing to do, which look the same from outside.
    pub(super) fn is_of_one(&self, level: &Level) -> bool {
        // Who waits for a processor is slower than at a light load.
        let is_one = ONE.contains(&self.worked_on) || self.is_busy && self.worked_on < ONE.end;
        is_one && level.mean(limits::PROGRAM_FUTEX).is_some_and(|threads| threads >= 2.0)
    }
}
