//! What stands behind the server, and takes its time.

use catalogue::Metric;
use catalogue::watch::limits;

use super::bounds::{MOSTLY, percent};
use super::held::grown;
use super::processors::Processors;
use super::sign::Sign;
use crate::verdict::level::{Level, OUTGOING};

/// Whether this is where names are looked up.
pub(super) fn is_lookup(to: &str) -> bool {
    to == "udp:53"
}

pub(super) fn name_lookup(level: &Level, light: &Level) -> Option<Sign> {
    let to = level.labels(OUTGOING).find(|to| is_lookup(to))?;
    let under_way = level.mean_of_looks(OUTGOING, to);
    let looks = level.values(limits::SOCKETS_UNREAD, "").len().max(1);
    let seen = level.values(OUTGOING, to).len() as f64 / looks as f64;
    let per_request = |level: &Level| level.mean_of_looks(OUTGOING, to) / level.served().max(1e-9) * 1e3;
    // They are there at any load; what they are a limit of is how many can wait for one at a time.
    let alone = light.in_server().max(f64::MIN_POSITIVE);
    let is_most = under_way / level.served().max(1e-9) >= 0.4 * alone;
    (level.is_behind && is_most && under_way >= 0.7 && seen >= MOSTLY).then(|| {
        Sign::of(
            0.95,
            format!(
                "{under_way:.1} look-ups of names were under way in the mean: {:.1} ms for each request, {:.1} ms at {:.0}/s.",
                per_request(level),
                per_request(light),
                light.rate
            ),
        )
    })
}

pub(super) fn back_end(level: &Level, light: &Level) -> Option<Sign> {
    queue_behind(level).or_else(|| processors_behind(level)).or_else(|| longer_behind(level, light))
}

/// Connections wait there to be accepted.
fn queue_behind(level: &Level) -> Option<Sign> {
    const UNACCEPTED: Metric = limits::OUTGOING_UNACCEPTED;
    let to = level.labels(UNACCEPTED).find(|to| level.standing_of(UNACCEPTED, to) >= MOSTLY)?;
    Some(Sign::sure(format!(
        "{:.0} connections to {to}, which the server asks, waited to be accepted in the mean: all of its workers were taken.",
        level.mean_of(UNACCEPTED, to)
    )))
}

/// Programs there have most of the processors, of which the server would need little.
fn processors_behind(level: &Level) -> Option<Sign> {
    let processors = Processors::of(level)?;
    let program = level
        .labels(limits::BEHIND)
        .map(|program| (level.mean_of_looks(limits::BEHIND, program), program))
        .max_by(|one, other| one.0.total_cmp(&other.0));
    let (used, program) = program?;
    (processors.is_behinds()).then(|| {
        Sign::of(
            0.9,
            format!(
                "{program}, which the server asks, used {used:.2} of the processors that both may run on, which were busy {:.0} % of the time.",
                percent(processors.busy)
            ),
        )
    })
}

/// It takes longer there for each request than at a light load, where it took no longer than the whole request.
fn longer_behind(level: &Level, light: &Level) -> Option<Sign> {
    level.labels(OUTGOING).filter(|to| !is_lookup(to)).find_map(|to| {
        let [now, before] = each_awaited(level, light, to);
        let [awaited, awaited_before] = level.awaited_beside(light, to);
        // And more of them are there, or threads wait for an answer on them.
        let have_grown = awaited > 1.3 * awaited_before;
        let are_waited_for = grown(limits::PROGRAM_PEER, level, light).is_some_and(|more| more >= 1.5);
        (awaited >= 2.0 && now > 1.5 * before && (have_grown || are_waited_for)).then(|| {
            Sign::sure(format!(
                "{awaited:.0} answers of {} were awaited: {:.1} ms for each request, at most {:.1} ms at {:.0}/s.",
                if to.parse::<u16>().is_ok() { format!("port {to}") } else { to.to_owned() },
                now * 1e3,
                before * 1e3,
                light.rate
            ))
        })
    })
}

/// How long an answer is awaited for each request, s, and how long at most at a light load, where few are seen in few looks and
/// chance may leave out half of them. Connections that are kept are there without being asked: none is for longer than the request.
pub(super) fn each_awaited(level: &Level, light: &Level, to: &str) -> [f64; 2] {
    let each = |level: &Level, awaited: f64| {
        let whole = Some(level.in_server()).filter(|mean| *mean > 0.0).unwrap_or(f64::INFINITY);
        (awaited / level.served().max(1e-9)).min(whole)
    };
    let looks = light.values(limits::SOCKETS_UNREAD, "").len().max(1) as f64;
    let [now, before] = level.awaited_beside(light, to);
    [each(level, now), each(light, before + 2.0 * (before / looks).sqrt())]
}
