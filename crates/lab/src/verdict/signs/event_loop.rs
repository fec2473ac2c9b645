//! A loop that serves all connections, and is kept from it.

use catalogue::watch::{limits, processes};

use super::bounds::{MOSTLY, is_unaccepted, is_unread};
use super::held::{ONE, is_anything_waited_for, read, worked_on};
use super::processors::Processors;
use super::sign::Sign;
use crate::verdict::level::Level;

/// All of a processor.
const WHOLE: f64 = 0.9;

/// One thread serves many connections and does nothing else meanwhile: it has all of one processor, or waits in it for
/// something that should not be waited for there.
pub(super) fn event_loop(level: &Level, light: &Level) -> Option<Sign> {
    let processors = Processors::of(level)?;
    busy(level, &processors)
        .or_else(|| waiting(level, light, &processors))
        .or_else(|| one_at_a_time(level, light, &processors))
}

fn busy(level: &Level, processors: &Processors<'_>) -> Option<Sign> {
    let Processors { program, used, may, .. } = *processors;
    let busiest = level.mean_of(limits::PROGRAM_BUSIEST, program);
    let is_held_up = is_unread(level) || is_unaccepted(level);
    (busiest >= WHOLE && used < 0.8 * may && used - busiest < 0.5 && is_held_up).then(|| {
        Sign::sure(format!(
            "A single thread of {program} used {busiest:.2} processors, and the whole of it {used:.2} of {may:.0} that it may run on, while requests waited for it."
        ))
    })
}

/// Accepted connections with something unread, where there are some most of the time.
fn unattended(level: &Level) -> Option<f64> {
    let is_mostly = level.standing(limits::SOCKETS_UNATTENDED) >= MOSTLY;
    level.mean(limits::SOCKETS_UNATTENDED).filter(|_| is_mostly)
}

/// Whether it has read hardly any requests that it has not answered: who has read several has something else that keeps them,
/// unless it has hardly any threads.
fn reads_one(level: &Level) -> bool {
    const FEW: f64 = 3.0;
    has_few_threads(level) || read(level).is_none_or(|read| read < FEW)
}

fn has_few_threads(level: &Level) -> bool {
    const FEW: f64 = 3.0;
    level.mean(processes::THREADS).is_some_and(|threads| threads > 0.0 && threads <= FEW)
}

/// Whether the few threads of a server hardly wait for events any more, as they do at a light load, though they do not run: what
/// keeps requests waiting keeps the loop. Who waits for a place in a pool lets the loop go on.
pub(super) fn is_loop_held_up(level: &Level, light: &Level) -> bool {
    let [now, before] = [level, light].map(|level| level.mean(limits::PROGRAM_EVENT).unwrap_or_default());
    let is_idle =
        Processors::of(level).is_some_and(|processors| processors.used < 0.5 * WHOLE.min(processors.may));
    has_few_threads(level) && before >= 0.5 && now < 0.3 * before && is_idle
}

/// It waits for something else than events, which it does otherwise.
fn waiting(level: &Level, light: &Level, processors: &Processors<'_>) -> Option<Sign> {
    /// More are workers, of which there may be too few.
    const FEW: f64 = 3.0;
    let Processors { program, used, may, .. } = *processors;
    let more = |metric| level.mean_of(metric, program) - light.mean_of(metric, program);
    let waits = [
        ("a disk", limits::PROGRAM_DISK),
        ("another thread", limits::PROGRAM_LOCK),
        ("the other end of a connection", limits::PROGRAM_PEER),
        ("a time to pass", limits::PROGRAM_SLEEP),
        ("something else", limits::PROGRAM_OTHER),
    ];
    let is_elsewhere = more(limits::PROGRAM_EVENT) <= -0.4;
    let waits = waits.map(|(what, metric)| (what, more(metric)));
    let (what, threads) = waits.into_iter().max_by(|one, other| one.1.total_cmp(&other.1))?;
    let is_blocked = is_elsewhere && (0.4..FEW).contains(&threads) && used < WHOLE.min(0.85 * may);
    let is_one = reads_one(level);
    let unattended =
        unattended(level).filter(|unattended| is_blocked && is_one && *unattended > 2.0 * threads)?;
    Some(Sign::of(
        0.8,
        format!(
            "The thread of {program} that serves its connections waited for {what} ({threads:.1} threads more than at {:.0}/s), while requests lay unread on {unattended:.0} connections that it had accepted.",
            light.rate
        ),
    ))
}

/// Or for something of which nothing is to be seen, such as what another of its threads waits for meanwhile.
fn one_at_a_time(level: &Level, light: &Level, processors: &Processors<'_>) -> Option<Sign> {
    let Processors { used, may, .. } = *processors;
    let (alone, worked_on) = worked_on(level, light);
    let is_idle = used < 0.5 * WHOLE.min(may) && !is_anything_waited_for(level, light) && !level.may_ask();
    let unattended = unattended(level).filter(|unattended| *unattended >= 2.0 && reads_one(level))?;
    (ONE.contains(&worked_on) && is_idle).then(|| {
        Sign::of(
            0.75,
            format!(
                "{:.1}/s of {:.1} ms each, as at {:.0}/s, are {worked_on:.1} at a time, while requests lay unread on {unattended:.0} connections that had been accepted, and no more threads waited for anything: a single one serves them all.",
                level.served(),
                alone * 1e3,
                light.rate
            ),
        )
    })
}
