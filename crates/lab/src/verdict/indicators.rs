//! Whether a resource is at its end at a [`Level`], and by which figures: utilisation, saturation and errors of
//! each (Gregg, "Systems Performance", section 2.5.9).

use catalogue::Metric;
use catalogue::watch::{limits, network, processes};
use record::search::Resource;

use super::alternating;
use super::level::{LISTEN_QUEUE, Level, OUTGOING, SYN_QUEUE};
use super::resources::RESOURCES;

/// A resource is at its end from these shares of it on.
const BUSY: f64 = 0.9;
const FULL: f64 = 0.95;
/// And what should be there now and then is there in this share of all looks.
const MOSTLY: f64 = 0.6;

/// More requests fail than the search allows.
const FAILED: f64 = 0.01;

/// A sentence with figures when the resource is at its end at `level`; `light` is a level far below.
pub(crate) fn indicator(resource: Resource, level: &Level, light: &Level) -> Option<String> {
    match resource {
        Resource::Client => client(level),
        Resource::EphemeralPorts => ephemeral_ports(level).or_else(|| ports_to_back_end(level, light)),
        Resource::FdLimit => fd_limit(level),
        Resource::Network => network(level, light),
        Resource::CpuQuota => cpu_quota(level),
        Resource::Memory => memory(level, light),
        Resource::Disk => disk(level),
        Resource::Serialization => serialization(level, light),
        Resource::BackEnd => back_end(level, light),
        Resource::ServerCpu => server_cpu(level),
        Resource::WorkerLimit => worker_limit(level),
        Resource::SynQueue => syn_queue(level),
        Resource::AcceptQueue => accept_queue(level),
        Resource::Alternating => in_turns(level, light),
        Resource::None => None,
    }
}

fn percent(share: f64) -> f64 {
    share * 100.0
}

fn client(level: &Level) -> Option<String> {
    /// What is late with less to do was held up by something else.
    const BUSY_OR_WAITING: f64 = 0.5;
    /// With a quota it waits most of the time that it has something to do, however little that is.
    const WAITING: f64 = 0.1;
    let client = &level.summary.client;
    let is_busy = client.cpu + client.waited >= BUSY_OR_WAITING;
    let is_kept_waiting = client.waited >= client.cpu.max(WAITING);
    (!level.is_valid && (is_busy || is_kept_waiting)).then(|| {
        format!("The generator could not keep up at {:.0}/s: {}.", level.rate, client.why_invalid.join("; "))
    })
}

fn ephemeral_ports(level: &Level) -> Option<String> {
    let without = level.summary.client.without_port;
    (without > 0).then(|| format!("{without} connections could not be made for want of a local port."))
}

/// Who passes requests on needs a port for each connection as well, and a minute longer where it closes it first.
fn ports_to_back_end(level: &Level, light: &Level) -> Option<String> {
    let failed = level.failed();
    let refused = level.refused.ports.as_ref().filter(|_| level.is_behind && failed > FAILED)?;
    // Who waits for something else holds them for longer.
    let is_kept_waiting = || {
        let others = [Resource::CpuQuota, Resource::ServerCpu, Resource::BackEnd];
        others.into_iter().any(|resource| indicator(resource, level, light).is_some())
    };
    let are_taken = level.most(limits::SOCKETS_PORTS_USED).is_some_and(|used| used >= FULL);
    (are_taken && level.labels(OUTGOING).next().is_some() && !is_kept_waiting()).then(|| {
        format!(
            "The server had no local port for some connections to what stands behind it, as all were in use or in TIME-WAIT: {:.1} % of requests failed, and its log says \"{refused}\".",
            percent(failed)
        )
    })
}

fn fd_limit(level: &Level) -> Option<String> {
    let used = level.most(limits::PROGRAM_DESCRIPTORS)?;
    // Who is refused one may stop to accept connections for a while, and then has few of them.
    let is_held_up = level.most(limits::SOCKETS_UNACCEPTED).is_some_and(|most| most > 0.0);
    let had_all = level.descriptors >= FULL && is_held_up && (level.is_behind || !level.is_valid);
    // Or it ends at once, before anybody looks.
    let refused = level.refused.descriptors.as_ref().filter(|_| level.is_behind);
    (used >= FULL || had_all || refused.is_some()).then(|| {
        let said = refused.map_or_else(String::new, |line| format!("; its log says \"{line}\""));
        format!(
            "A process of the server had up to {:.0} % of the descriptors open that it may{said}.",
            percent(level.descriptors.max(used))
        )
    })
}

fn network(level: &Level, light: &Level) -> Option<String> {
    const WAITING: Metric = limits::QUEUE_WAITING;
    let held_up = |interface: &&str| {
        level.standing_of(WAITING, interface) >= MOSTLY
            && level.mean_of(limits::QUEUE_OVERLIMITS, interface)
                + level.mean_of(limits::QUEUE_DROPS, interface)
                > 0.0
    };
    let held_up = level.labels(WAITING).find(held_up);
    if let Some(interface) = held_up {
        return Some(format!(
            "{interface} carried {:.1} Mbit/s, with {:.0} bytes in front of it that had to wait and {:.0} packets/s dropped.",
            level.mean_of(network::SENT_BYTES, interface) * 8e-6,
            level.mean_of(WAITING, interface),
            level.mean_of(limits::QUEUE_DROPS, interface)
        ));
    }
    // A link further away: the server has sent, and clients do not take it; transfers take longer and longer.
    let [now, before] = [level, light].map(|level| level.summary.latency.transfer.mean);
    let unsent = level.mean(limits::SOCKETS_UNSENT)?;
    let is_slow = now > 0.5 * level.summary.latency.total.mean && now > 2.0 * before && unsent > 65536.0;
    is_slow.then(|| {
        format!(
            "Transfers took {:.1} ms of {:.1} ms, and {:.0} kB were sent that clients did not have yet.",
            now * 1e3,
            level.summary.latency.total.mean * 1e3,
            unsent / 1e3
        )
    })
}

fn cpu_quota(level: &Level) -> Option<String> {
    let (quota, throttled) =
        (level.most(limits::PROGRAM_CPU_QUOTA)?, level.highest(limits::PROGRAM_CPU_THROTTLED)?);
    let used = level.mean(processes::CPU)?;
    (used >= 0.8 * quota && throttled >= 0.3).then(|| {
        format!(
            "The server used {used:.2} of {quota:.2} processors that its control group may use, and had to stop in {:.0} % of all periods.",
            percent(throttled)
        )
    })
}

fn memory(level: &Level, light: &Level) -> Option<String> {
    let (used, refaults) =
        (level.most(limits::PROGRAM_MEMORY_USED)?, level.highest(limits::PROGRAM_MEMORY_REFAULTS)?);
    let waits = level.mean(limits::PROGRAM_DISK)? >= 0.5 || disk(level).is_some();
    (used >= FULL && refaults > 0.1 * level.summary.rate.achieved && waits).then(|| {
        format!(
            "The control group used {:.0} % of its memory, and {refaults:.0} pages/s that it had given up were needed again ({:.0} at {:.0}/s).",
            percent(used),
            light.highest(limits::PROGRAM_MEMORY_REFAULTS).unwrap_or_default(),
            light.rate
        )
    })
}

/// How much of what its control group may ask of the disk the server used, where that is nearly all.
fn asked_of_disk(level: &Level) -> Option<f64> {
    level.highest(limits::PROGRAM_IO_USED).filter(|used| *used >= BUSY)
}

/// Whether it is what its control group may ask of the disk that the server has no more of, not the disk.
pub(super) fn is_limit_of_group(level: &Level) -> bool {
    asked_of_disk(level).is_some()
}

fn disk(level: &Level) -> Option<String> {
    let waiting = level.mean(limits::PROGRAM_DISK)?;
    let busy = level.highest(limits::DISK_BUSY);
    if let Some(used) = asked_of_disk(level).filter(|_| waiting > 0.0) {
        let itself = busy.map_or_else(String::new, |busy| {
            format!(", while the disk itself was busy {:.0} % of the time", percent(busy))
        });
        return Some(format!(
            "The control group used {:.0} % of what it may ask of the disk, and {waiting:.1} threads waited for it{itself}.",
            percent(used)
        ));
    }
    let busy = busy?;
    (busy >= BUSY && waiting >= 1.0).then(|| {
        format!("A disk was busy {:.0} % of the time, and {waiting:.1} threads waited for it.", percent(busy))
    })
}

fn serialization(level: &Level, light: &Level) -> Option<String> {
    let of = |level: &Level, threads: Metric| level.mean(threads).unwrap_or_default();
    // Helpers that do nothing sleep in locks as well.
    let more = |threads: Metric| of(level, threads) - of(light, threads);
    let lock = more(limits::PROGRAM_LOCK);
    let others = [limits::PROGRAM_DISK, limits::PROGRAM_PEER, limits::PROGRAM_SLEEP, limits::PROGRAM_OTHER];
    let others = others.map(more).into_iter().fold(0.0, f64::max);
    let running = of(level, limits::PROGRAM_RUNNING);
    (lock >= 1.5 && lock > others && lock > running).then(|| {
        format!(
            "{:.1} threads waited for each other (locks), {lock:.1} more than at {:.0}/s, while {running:.1} ran.",
            of(level, limits::PROGRAM_LOCK),
            light.rate
        )
    })
}

fn back_end(level: &Level, light: &Level) -> Option<String> {
    let per_request =
        |level: &Level, port: &str| level.mean_of_looks(OUTGOING, port) / level.served().max(1e-9);
    level.labels(OUTGOING).find_map(|port| {
        let [now, before] = [level, light].map(|level| per_request(level, port));
        let connections = level.mean_of_looks(OUTGOING, port);
        (connections >= 2.0 && now > 1.5 * before).then(|| {
            format!(
                "{connections:.0} connections to port {port} were under way: {:.1} ms for each request, {:.1} ms at {:.0}/s.",
                now * 1e3,
                before * 1e3,
                light.rate
            )
        })
    })
}

fn server_cpu(level: &Level) -> Option<String> {
    let (used, program) = level
        .labels(processes::CPU)
        .map(|program| (level.mean_of(processes::CPU, program), program))
        .max_by(|one, other| one.0.total_cmp(&other.0))?;
    let may = level.mean_of(limits::PROGRAM_PROCESSORS, program).max(1.0);
    let busy = level.mean_of(limits::PROGRAM_PROCESSORS_BUSY, program);
    // What the kernel does for it in interrupts is on no program's account, but takes as much.
    if used >= BUSY * may || (busy >= FULL && used >= 0.7 * may) {
        return Some(format!(
            "{program} used {used:.2} of {may:.0} processors that it may run on; they were busy {:.0} % of the time.",
            percent(busy)
        ));
    }
    // A server with fewer threads than there are processors.
    let running = level.mean_of(limits::PROGRAM_RUNNING, program);
    let is_whole = used >= BUSY && (used - used.round()).abs() < 0.1 && running >= BUSY * used.round();
    (is_whole && level.standing(limits::SOCKETS_UNREAD) >= MOSTLY).then(|| {
        format!(
            "The threads of {program} used {used:.2} processors, each all of one, and requests lay unread meanwhile; it may run on {may:.0}."
        )
    })
}

fn worker_limit(level: &Level) -> Option<String> {
    const UNACCEPTED: Metric = limits::SOCKETS_UNACCEPTED;
    if level.standing(UNACCEPTED) >= MOSTLY {
        return Some(format!(
            "{:.0} connections waited to be accepted in the mean, with {:.0} threads of the server all taken.",
            level.mean(UNACCEPTED).unwrap_or_default(),
            level.mean(processes::THREADS).unwrap_or_default()
        ));
    }
    // Workers that have many connections each close those that are too many.
    let failed = level.failed();
    let refused = level.refused.connections.as_ref().filter(|_| level.is_behind && failed > FAILED)?;
    Some(format!(
        "Workers had all the connections that they may: {:.1} % of requests failed, and the log says \"{refused}\".",
        percent(failed)
    ))
}

/// Where nothing is at its end all the time, but what only waits for others.
fn in_turns(level: &Level, light: &Level) -> Option<String> {
    let mut others = RESOURCES.into_iter().filter(|resource| *resource > Resource::Alternating);
    if others.any(|resource| indicator(resource, level, light).is_some()) {
        return None;
    }
    alternating::indicator(level, BUSY)
}

fn syn_queue(level: &Level) -> Option<String> {
    let full = overflows(level, SYN_QUEUE)?;
    // It is no longer than the listen queue, and fills up behind one that is full.
    (level.overflowing(LISTEN_QUEUE) <= MIN_SHARE)
        .then(|| format!("{full:.1} SYNs/s found the SYN queue{} full{}.", of_room(level), sent_again(level)))
}

fn accept_queue(level: &Level) -> Option<String> {
    let full = overflows(level, LISTEN_QUEUE)?;
    Some(format!(
        "{full:.1} connections/s found the listen queue{} full{}.",
        of_room(level),
        sent_again(level)
    ))
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
