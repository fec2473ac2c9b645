//! Places for connections: descriptors, workers, and queues in front of them.

use catalogue::Metric;
use catalogue::watch::{limits, processes};

use super::bounds::{FAILED, FULL, MOSTLY, is_unaccepted, percent};
use super::held::threads_taken;
use super::sign::Sign;
use crate::verdict::level::{LISTEN_QUEUE, Level, SYN_QUEUE};

pub(super) fn fd_limit(level: &Level) -> Option<Sign> {
    let used = level.most(limits::PROGRAM_DESCRIPTORS)?;
    // Who is refused one may stop to accept connections for a while, and then has few of them.
    let is_held_up = level.most(limits::SOCKETS_UNACCEPTED).is_some_and(|most| most > 0.0);
    let had_all = level.descriptors >= FULL && is_held_up && (level.is_behind || !level.is_valid);
    // Or it stops to accept long before, and keeps some for what it needs besides.
    let keeps_some = used >= KEEPS_SOME && is_unaccepted(level) && waits_for_events(level);
    if keeps_some {
        return Some(Sign::of(
            0.85,
            format!(
                "{:.0} connections waited to be accepted in the mean, while the threads of the server had nothing to do; a process had {:.0} % of the descriptors open that it may.",
                level.mean(limits::SOCKETS_UNACCEPTED).unwrap_or_default(),
                percent(used)
            ),
        ));
    }
    // Or it ends at once, before anybody looks.
    let refused = level.refused.descriptors.as_ref().filter(|_| level.is_behind);
    (used >= FULL || had_all || refused.is_some()).then(|| {
        let said = refused.map_or_else(String::new, |line| format!("; its log says \"{line}\""));
        Sign::sure(format!(
            "A process of the server had up to {:.0} % of the descriptors open that it may{said}.",
            percent(level.descriptors.max(used))
        ))
    })
}

/// From this share of its descriptors on a server may accept no more, such as lighttpd from four fifths on.
const KEEPS_SOME: f64 = 0.7;

/// Whether nearly all threads of the server wait for events, or for what to do.
fn waits_for_events(level: &Level) -> bool {
    const NEARLY_ALL: f64 = 0.8;
    let threads = level.mean(processes::THREADS).unwrap_or_default();
    let waiting =
        [limits::PROGRAM_EVENT, limits::PROGRAM_FUTEX].map(|metric| level.mean(metric).unwrap_or_default());
    threads > 0.0 && waiting.iter().sum::<f64>() >= NEARLY_ALL * threads
}

pub(super) fn worker_limit(level: &Level, light: &Level) -> Option<Sign> {
    const UNACCEPTED: Metric = limits::SOCKETS_UNACCEPTED;
    if is_unaccepted(level) {
        return Some(Sign::sure(format!(
            "{:.0} connections waited to be accepted in the mean, with {:.0} threads of the server all taken.",
            level.mean(UNACCEPTED).unwrap_or_default(),
            level.mean(processes::THREADS).unwrap_or_default()
        )));
    }
    // A part of the server that has the workers, behind what takes the connections.
    let within = level.labels(limits::PARTS_UNACCEPTED);
    let within = within.max_by(|one, other| {
        let [one, other] = [one, other].map(|at| level.standing_of(limits::PARTS_UNACCEPTED, at));
        one.total_cmp(&other)
    });
    if let Some(at) = within.filter(|at| level.standing_of(limits::PARTS_UNACCEPTED, at) >= MOSTLY) {
        return Some(Sign::sure(format!(
            "{:.0} requests waited at {at} in the mean to be taken by a worker, all of which had one.",
            level.mean_of(limits::PARTS_UNACCEPTED, at)
        )));
    }
    // Or threads of the server, behind the one that has the connections.
    if let Some((threads, what)) = threads_taken(level, light) {
        return Some(Sign::of(
            0.9,
            format!(
                "{threads:.0} threads waited for {what} all the time, each for as long as at {:.0}/s, while requests lay unread on {:.0} connections that had been accepted.",
                light.rate,
                level.mean(limits::SOCKETS_UNREAD).unwrap_or_default()
            ),
        ));
    }
    // Workers that have many connections each close those that are too many.
    let failed = level.failed();
    let refused = level.refused.connections.as_ref().filter(|_| level.is_behind && failed > FAILED)?;
    Some(Sign::sure(format!(
        "Workers had all the connections that they may: {:.1} % of requests failed, and the log says \"{refused}\".",
        percent(failed)
    )))
}

/// Workers that have a connection each until it ends wait on it for what is asked next, while others wait for them.
pub(super) fn kept_connections(level: &Level) -> Option<Sign> {
    /// Of all accepted connections, the share that is without a request.
    const MANY: f64 = 0.4;
    let [idle, owed] = [limits::SOCKETS_IDLE, limits::SOCKETS_OWED].map(|metric| level.mean(metric));
    let (idle, owed) = (idle?, owed?);
    let share = idle / (idle + owed).max(f64::MIN_POSITIVE);
    (is_unaccepted(level) && idle >= 1.0 && share >= MANY).then(|| {
        Sign::of(
            (share - MANY / 2.0) / MANY,
            format!(
                "On {idle:.0} of {:.0} accepted connections nothing was asked ({:.0} %), while {:.0} others waited to be accepted.",
                idle + owed,
                percent(share),
                level.mean(limits::SOCKETS_UNACCEPTED).unwrap_or_default()
            ),
        )
    })
}

pub(super) fn syn_queue(level: &Level) -> Option<Sign> {
    let full = overflows(level, SYN_QUEUE)?;
    // It is no longer than the listen queue, and fills up behind one that is full.
    (level.overflowing(LISTEN_QUEUE) <= MIN_SHARE).then(|| {
        let (room, again) = (of_room(level), sent_again(level));
        Sign::sure(format!("{full:.1} SYNs/s found the SYN queue{room} full{again}."))
    })
}

pub(super) fn accept_queue(level: &Level) -> Option<Sign> {
    let full = overflows(level, LISTEN_QUEUE)?;
    let (room, again) = (of_room(level), sent_again(level));
    Some(Sign::sure(format!("{full:.1} connections/s found the listen queue{room} full{again}.")))
}

/// Of all that arrives: fewer are in no percentile that anybody looks at.
const MIN_SHARE: f64 = 0.002;

/// How many per second find a queue full, where their share is not negligible, and grows with the load: a burst can
/// fill a short queue at a light one, and on a machine that others use it can be their queue.
fn overflows(level: &Level, queue: Metric) -> Option<f64> {
    const GROWN: f64 = 2.0;
    let before = level.overflowing_before.get(&queue).copied().unwrap_or_default();
    let is_more = level.overflowing(queue) > MIN_SHARE.max(GROWN * before);
    (is_more && !level.is_light).then(|| level.mean(queue)).flatten()
}

/// The places of the listen queue.
fn of_room(level: &Level) -> String {
    level.most(limits::SOCKETS_ROOM).map_or_else(String::new, |room| format!(" of {room:.0}"))
}

/// What clients noticed: the server's kernel knows nothing of the SYNs of those in another namespace, or elsewhere.
fn sent_again(level: &Level) -> String {
    let share = level.summary.syns_again();
    share.map_or_else(String::new, |share| {
        format!("; clients sent {:.1} SYNs again for 100 connections", percent(share))
    })
}
