//! What threads wait for, and requests in them: a disk, each other, what stands behind the server.

use catalogue::Metric;
use catalogue::watch::limits;

use super::behind::{each_awaited, is_lookup};
use super::bounds::{BUSY, FULL, are_workers_taken, percent};
use super::event_loop::is_loop_held_up;
use super::held::{Held, grown, threads_taken};
use super::processors::Processors;
use super::sign::Sign;
use crate::verdict::level::{Level, OUTGOING};

pub(super) fn memory(level: &Level, light: &Level) -> Option<Sign> {
    let (used, refaults) =
        (level.most(limits::PROGRAM_MEMORY_USED)?, level.highest(limits::PROGRAM_MEMORY_REFAULTS)?);
    let waits = level.mean(limits::PROGRAM_DISK)? >= 0.5 || disk(level, light).is_some();
    (used >= FULL && refaults > 0.1 * level.summary.rate.achieved && waits).then(|| {
        Sign::sure(format!(
            "The control group used {:.0} % of its memory, and {refaults:.0} pages/s that it had given up were needed again ({:.0} at {:.0}/s).",
            percent(used),
            light.highest(limits::PROGRAM_MEMORY_REFAULTS).unwrap_or_default(),
            light.rate
        ))
    })
}

/// How much of what its control group may ask of the disk the server used, where that is nearly all.
fn asked_of_disk(level: &Level) -> Option<f64> {
    level.highest(limits::PROGRAM_IO_USED).filter(|used| *used >= BUSY)
}

/// Whether it is what its control group may ask of the disk that the server has no more of, not the disk.
pub(in crate::verdict) fn is_limit_of_group(level: &Level) -> bool {
    asked_of_disk(level).is_some()
}

pub(super) fn disk(level: &Level, light: &Level) -> Option<Sign> {
    let waiting = level.mean(limits::PROGRAM_DISK)?;
    let busy = level.highest(limits::DISK_BUSY);
    // It may be what the server asks that waits for it, in the same group.
    let is_waited_for = waiting > 0.0 || level.labels(limits::BEHIND).next().is_some();
    if let Some(used) = asked_of_disk(level).filter(|_| is_waited_for) {
        let itself = busy.map_or_else(String::new, |busy| {
            format!(", while the disk itself was busy {:.0} % of the time", percent(busy))
        });
        return Some(Sign::sure(format!(
            "The control group used {:.0} % of what it may ask of the disk, and {waiting:.1} threads waited for it{itself}.",
            percent(used)
        )));
    }
    let busy = busy?;
    if busy >= BUSY && waiting >= 1.0 {
        return Some(Sign::sure(format!(
            "A disk was busy {:.0} % of the time, and {waiting:.1} threads waited for it.",
            percent(busy)
        )));
    }
    // Writes that have to be on it (fsync(2)) come one after the other: somebody waits for each of them, and others for
    // who does.
    let always = level.standing(limits::PROGRAM_DISK);
    let is_idle = Processors::of(level).is_some_and(|processors| processors.busy < BUSY);
    let before = light.standing(limits::PROGRAM_DISK);
    (always >= 0.8 && always > before && busy >= 0.3 && is_idle).then(|| {
        Sign::of(
            0.6 + 0.4 * busy,
            format!(
                "In {:.0} % of all looks a thread waited for the disk ({waiting:.1} in the mean; at {:.0}/s in {:.0} %), which was busy {:.0} % of the time.",
                percent(always),
                light.rate,
                percent(before),
                percent(busy)
            ),
        )
    })
}

/// Threads that wait for each other, more than at a light load, those of them at a futex, and what else there is; where
/// they are more than all of that.
struct Locks {
    waiting: f64,
    more: f64,
    at_futex: f64,
    running: f64,
}

impl Locks {
    fn of(level: &Level, light: &Level) -> Option<Self> {
        // Helpers that do nothing sleep in locks as well.
        let more = |metric: Metric| grown(metric, level, light).unwrap_or_default();
        let lock = more(limits::PROGRAM_LOCK);
        let others =
            [limits::PROGRAM_DISK, limits::PROGRAM_PEER, limits::PROGRAM_SLEEP, limits::PROGRAM_OTHER];
        let others = others.map(more).into_iter().fold(0.0, f64::max);
        let running = level.mean(limits::PROGRAM_RUNNING).unwrap_or_default();
        let waiting = level.mean(limits::PROGRAM_LOCK).unwrap_or_default();
        (lock >= 1.5 && lock > others && lock > running).then(|| Self {
            waiting,
            more: lock,
            at_futex: more(limits::PROGRAM_FUTEX),
            running,
        })
    }

    /// Whether they wait for others of their process.
    fn is_within(&self) -> bool {
        self.at_futex > 0.5 * self.more
    }

    fn said(&self, light: &Level) -> String {
        let Self { waiting, more, running, .. } = self;
        format!(
            "{waiting:.1} threads waited for each other (locks), {more:.1} more than at {:.0}/s, while {running:.1} ran.",
            light.rate
        )
    }
}

pub(super) fn serialization(level: &Level, light: &Level) -> Option<Sign> {
    let locks = Locks::of(level, light).filter(|locks| !locks.is_within());
    locks.map(|locks| Sign::sure(locks.said(light))).or_else(|| in_turn(level, light))
}

/// Threads that sleep for longer and longer: who finds a lock taken and tries again after a while (SQLite's busy handler),
/// not who waits as long for every request.
fn in_turn(level: &Level, light: &Level) -> Option<Sign> {
    let asleep = grown(limits::PROGRAM_SLEEP, level, light)?;
    let alone = light.in_server();
    let each = asleep / level.served().max(1e-9);
    let running = level.mean(limits::PROGRAM_RUNNING).unwrap_or_default();
    (asleep >= 1.5 && asleep > running && each > 1.5 * alone).then(|| {
        Sign::of(
            0.9,
            format!(
                "{asleep:.1} threads more than at {:.0}/s slept for a time, {:.1} ms for each request, which takes {:.1} ms there in all: they try again and again for what another has.",
                light.rate,
                each * 1e3,
                alone * 1e3
            ),
        )
    })
}

pub(super) fn application_lock(level: &Level, light: &Level) -> Option<Sign> {
    let Some(locks) = Locks::of(level, light).filter(Locks::is_within) else {
        // What has all of them wait, and lets none through for a while, is one as well.
        let is_lock = |held: &Held| held.is_of_one(level) || level.is_stalled;
        let held = Held::of(level, light).filter(is_lock)?;
        return Some(Sign::of(0.7, held.said(level, light)));
    };
    // All stand where garbage is collected, and threads that wait for a processor are not those that wait for a lock.
    let said = format!("{} They wait at a futex, within their process.", locks.said(light));
    Some(Sign::of(0.95, said))
}

/// A pool of connections to something: all of them are asked, each takes as long as at a light load, and there are never
/// more, while requests wait.
pub(super) fn application_pool(level: &Level, light: &Level) -> Option<Sign> {
    connections_in_use(level, light).or_else(|| places_in_use(level, light))
}

/// Of what is not seen from outside: so many requests are worked on at a time, and others wait in the server.
fn places_in_use(level: &Level, light: &Level) -> Option<Sign> {
    let is_pool = |held: &Held| !held.is_of_rate() && !held.is_of_one(level) && !level.is_stalled;
    let held = Held::of(level, light).filter(is_pool)?;
    Some(Sign::of(0.6, held.said(level, light)))
}

fn connections_in_use(level: &Level, light: &Level) -> Option<Sign> {
    let waiting = grown(limits::SOCKETS_OWED, level, light)?;
    if is_loop_held_up(level, light) {
        return None;
    }
    // Workers that are all taken have a connection each.
    let are_taken = are_workers_taken(level) || threads_taken(level, light).is_some();
    if are_taken && Locks::of(level, light).is_none() {
        return None;
    }
    let alone = light.in_server();
    // By Little's law, if each takes as long as at a light load; and who waits for an answer at one.
    let worked_on = level.served() * alone;
    let at_peers = level.mean(limits::PROGRAM_PEER).unwrap_or_default();
    level.labels(OUTGOING).filter(|to| !is_lookup(to)).find_map(|to| {
        let connections = level.mean_of_looks(OUTGOING, to);
        let values = level.values(OUTGOING, to);
        let are_all = values.iter().filter(|value| (**value - connections).abs() < 0.5).count();
        let is_full = are_all as f64 >= 0.9 * values.len().max(1) as f64 && connections >= 1.0;
        let ratio = worked_on / connections;
        // Each may be in use for a part of its request only; but none for longer than at a light load.
        // Who only ever sends, such as to a log, awaits an answer at any load.
        let awaited = |level: &Level| level.known_to_await(to).unwrap_or(f64::NAN);
        let are_awaited = awaited(level) >= 0.7 * connections
            && awaited(light) < 0.7 * connections
            && ratio >= 0.3;
        let are_used = (0.75..1.35).contains(&ratio)
            || ratio >= 0.75 && at_peers >= 0.7 * connections
            || are_awaited;
        // What takes longer there than at a light load is not held up by their number.
        let [now, before] = each_awaited(level, light, to);
        let is_longer = are_awaited && before > 0.0 && now > 2.0 * before;
        (is_full && are_used && !is_longer && waiting >= connections).then(|| {
            Sign::of(
                0.95,
                format!(
                    "There were never more than {connections:.0} connections to {to}, and {:.1}/s of {:.1} ms each, as at {:.0}/s, are {worked_on:.1} at a time; {waiting:.0} more requests than there waited in the server.",
                    level.served(),
                    alone * 1e3,
                    light.rate
                ),
            )
        })
    })
}
