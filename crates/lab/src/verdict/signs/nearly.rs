//! What is not at its end, and how near to it.

use catalogue::watch::limits;
use record::search::{Resource, Used};

use super::behind::is_lookup;
use super::bounds::percent;
use super::processors::Processors;
use crate::verdict::level::{Level, OUTGOING};

/// A resource, and how much of it is in use.
pub(in crate::verdict) struct Nearly {
    pub(in crate::verdict) resource: Resource,
    /// From 0 to 1, which is its end.
    pub(in crate::verdict) share: f64,
    pub(in crate::verdict) said: String,
}

/// What was looked at, the nearest to its end of each resource: what is next, once something else is not in the way.
pub(in crate::verdict) fn nearly(level: &Level) -> Vec<Nearly> {
    let used = level.used().into_iter().filter_map(|(name, share)| {
        let used = Used::named(&name)?;
        let said = format!("Of {} {:.0} % was in use at {:.0}/s.", used.name(), percent(share), level.rate);
        Some(Nearly { resource: used.resource(), share, said })
    });
    let mut all: Vec<Nearly> = used.chain(workers(level)).chain(behind(level)).chain(others(level)).collect();
    all.sort_by(|one, other| one.resource.cmp(&other.resource).then(other.share.total_cmp(&one.share)));
    all.dedup_by_key(|nearly| nearly.resource);
    all
}

/// Connections wait now and then until a worker is free.
fn workers(level: &Level) -> Option<Nearly> {
    let share = level.standing(limits::SOCKETS_UNACCEPTED);
    let said = format!(
        "In {:.0} % of all looks connections waited to be accepted at {:.0}/s.",
        percent(share),
        level.rate
    );
    (share > 0.0).then_some(Nearly { resource: Resource::WorkerLimit, share, said })
}

/// What stands behind the server is asked for a part of the time: all that there is, if it does one thing at a time.
fn behind(level: &Level) -> Option<Nearly> {
    let asked = level.labels(OUTGOING).filter(|to| !is_lookup(to));
    let asked = asked.filter_map(|to| Some((level.known_to_await(to)?.min(1.0), to)));
    let (share, to) = asked.max_by(|one, other| one.0.total_cmp(&other.0))?;
    let said = format!(
        "An answer of {to} was awaited for {:.0} % of the time at {:.0}/s.",
        percent(share),
        level.rate
    );
    Some(Nearly { resource: Resource::BackEnd, share, said })
}

/// Others have a good part of processors that are nearly all in use.
fn others(level: &Level) -> Option<Nearly> {
    const PART: f64 = 0.1;
    let processors = Processors::of(level)?;
    let others = processors.others;
    let said = format!(
        "Other programs used {others:.2} of the {:.0} processors that the server may run on, which were busy {:.0} % of the time at {:.0}/s.",
        processors.may,
        percent(processors.busy),
        level.rate
    );
    (others >= PART * processors.may).then_some(Nearly {
        resource: Resource::OtherProgram,
        share: processors.busy,
        said,
    })
}
