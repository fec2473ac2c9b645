//! The verdict: which resource is the bottleneck, and why.
//!
//! From what was seen at each [`Level`] of load: which resources are [at their end](super::signs), from which load on, which of
//! them are causes, and how likely each is. It is told nothing but the record.

use std::collections::BTreeMap;

use catalogue::Metric;
use catalogue::watch::limits;
use record::search::{Onset, Resource, Verdict};

use super::candidates::{Finding, SAME, candidates, likeliest};
use super::level::{LISTEN_QUEUE, Level, SYN_QUEUE};
use super::remedy;
use super::resources::RESOURCES;
use super::signs::{Sign, sign};

/// The share of levels above the capacity that have to show that a resource is at its end.
const MIN_SHARE_OF_LEVELS: f64 = 0.5;
/// The share of levels from an onset on that have to show it.
const STEADY: f64 = 0.75;
/// Of fewer it is chance that the server stood still, or somebody else's doing.
const LEAST_STALLS: usize = 3;
/// What is at its end from below this share of the load that was too much is so whatever the load.
const ALWAYS: f64 = 0.5;

/// The bottleneck of a server, from levels in any order.
pub(crate) fn judge(mut levels: Vec<Level>) -> Verdict {
    levels.sort_by(|one, other| one.rate.total_cmp(&other.rate));
    let descriptors =
        levels.iter().filter_map(|level| level.most(limits::PROGRAM_DESCRIPTORS)).fold(0.0, f64::max);
    levels.iter_mut().for_each(|level| level.descriptors = descriptors);
    compare_with_light(&mut levels);
    let highest_kept_up =
        levels.iter().rev().find(|level| level.is_open && level.is_valid && !level.is_behind);
    let behind: Vec<&Level> = levels.iter().filter(|level| level.is_behind).collect();
    let beyond = beyond(&levels, highest_kept_up);
    // The server's limits first. Where nothing explains what was too much for it, or nothing was, the generator's.
    let tries = [behind.clone(), [behind, beyond].concat()];
    let mut verdicts = tries.iter().filter(|above| !above.is_empty()).map(|above| explain(&levels, above));
    let Some(first) = verdicts.next() else {
        return highest_kept_up.map_or_else(Verdict::default, kept_up);
    };
    let is_known = |verdict: &Verdict| verdict.bottleneck.is_some();
    if is_known(&first) { first } else { verdicts.find(is_known).unwrap_or(first) }
}

/// Tells all levels which of them are light, and how often queues were full at these.
fn compare_with_light(levels: &mut [Level]) {
    let Some(lowest) = levels.iter().find(|level| level.is_behind).map(|level| level.rate) else { return };
    levels.iter_mut().for_each(|level| level.is_light = level.is_open && level.rate < ALWAYS * lowest);
    let light = || levels.iter().filter(|level| level.is_light);
    let arrived: f64 = light().map(|level| level.rate).sum();
    let share = |queue: Metric| {
        let full: f64 = light().filter_map(|level| level.mean(queue)).sum();
        (queue, full / arrived.max(f64::MIN_POSITIVE))
    };
    let shares = BTreeMap::from([LISTEN_QUEUE, SYN_QUEUE].map(share));
    levels.iter_mut().for_each(|level| level.overflowing_before.clone_from(&shares));
}

/// What was more than the generator could offer, and not less than what the server kept up with.
fn beyond<'a>(levels: &'a [Level], highest_kept_up: Option<&Level>) -> Vec<&'a Level> {
    // At the highest rate itself others of its probes may have been the generator's.
    let more =
        |level: &&Level| highest_kept_up.is_none_or(|highest| level.rate >= highest.rate && !level.is_valid);
    let of_generator = || RESOURCES.into_iter().filter(|resource| resource.is_generators());
    let is_generators = |level: &&Level| of_generator().any(|it| sign(it, level, level).is_some());
    let open = levels.iter().filter(|level| level.is_open && !level.is_behind);
    open.filter(more).filter(is_generators).collect()
}

/// What was at its end at the levels `above`, of which there are some: those that were too much.
fn explain(levels: &[Level], above: &[&Level]) -> Verdict {
    let lowest = above.iter().min_by(|one, other| one.rate.total_cmp(&other.rate));
    let (Some(light), Some(lowest)) = (light(levels), lowest) else { return Verdict::default() };
    let found = |resource| find(resource, levels, above, light, ALWAYS * lowest.rate);
    let mut findings: Vec<Finding> = RESOURCES.into_iter().filter_map(found).collect();
    // It is stalls that an objective is missed for; what else is at its end is so at a load that was too much.
    if let Some(of_stalls) = of_stalls(above, light, &findings) {
        findings = of_stalls;
    }
    // What is lost on the way is so at any load, and slows down whatever is sent: where nothing else does.
    if findings.iter().all(|found| found.is_always) {
        let lost = findings.iter_mut().filter(|found| found.resource == Resource::PacketLoss);
        lost.for_each(|found| found.is_always = false);
    }
    findings.sort_by(|one, other| one.onset.total_cmp(&other.onset));
    // What is at its end at half of the load as well does not keep the server from doing more.
    let early = || findings.iter().filter(|found| !found.is_always);
    let onset = early().map(|found| Onset { resource: found.resource, rate: found.onset }).collect();
    let cause = cause(&early().collect::<Vec<_>>(), lowest.rate);
    let candidates = candidates(&findings, cause.map(|cause| cause.resource), lowest);
    let named = likeliest(&candidates).map(|likeliest| (likeliest.name, likeliest.probability));
    let cause = named.and_then(|(name, _)| early().find(|found| found.resource == name));
    let (Some(cause), Some((_, confidence))) = (cause, named) else {
        let evidence = early().next().map_or_else(|| unexplained(above), |found| vec![too_weak(found)]);
        return Verdict { onset, candidates, evidence, ..Verdict::default() };
    };
    let mut evidence = vec![cause.evidence.clone()];
    evidence.extend(growth(light, lowest));
    for other in early().filter(|other| other.resource != cause.resource) {
        let how = if other.onset > cause.onset * SAME { "Later" } else { "As a consequence" };
        let name = other.resource.name();
        evidence.push(format!("{how}, from {:.0}/s on, {name}: {}", other.onset, other.evidence));
    }
    let next = remedy::next(cause.resource, lowest);
    Verdict { bottleneck: Some(cause.resource), confidence, candidates, onset, evidence, next }
}

/// What the others are compared with: the lowest load at which all was well; else a closed loop's, or the lowest.
fn light(levels: &[Level]) -> Option<&Level> {
    let is_well = |level: &&Level| level.is_valid && !level.is_behind && level.rate > 0.0;
    let open = levels.iter().filter(is_well).find(|level| level.is_open);
    open.or_else(|| levels.iter().find(is_well)).or_else(|| levels.first())
}

fn kept_up(highest: &Level) -> Verdict {
    Verdict {
        bottleneck: Some(Resource::None),
        confidence: 1.0,
        evidence: vec![format!("It kept up with all that was offered, up to {:.0}/s.", highest.rate)],
        next: vec![remedy::remedy(Resource::None, highest)],
        ..Verdict::default()
    }
}

fn find(
    resource: Resource,
    levels: &[Level],
    above: &[&Level],
    light: &Level,
    always: f64,
) -> Option<Finding> {
    let signs: Vec<Sign> = above.iter().filter_map(|level| sign(resource, level, light)).collect();
    if (signs.len() as f64) < MIN_SHARE_OF_LEVELS * above.len() as f64 {
        return None;
    }
    // What a closed loop achieves is not what came.
    let offered = levels.iter().filter(|level| level.is_open);
    let shown: Vec<(f64, bool)> =
        offered.map(|level| (level.rate, sign(resource, level, light).is_some())).collect();
    let weight = signs.iter().map(|sign| sign.strength).sum::<f64>() / above.len() as f64;
    let onset = onset(&shown).unwrap_or(above[0].rate);
    let evidence = signs.into_iter().next()?.said;
    // What takes processors from the server takes them all the time.
    let is_of_others = matches!(resource, Resource::OtherProgram | Resource::Steal);
    // And what they are used for is the same at any load.
    let is_use = matches!(resource, Resource::GarbageCollection | Resource::Tls);
    let is_always = onset < always && !is_of_others && !is_use;
    Some(Finding { resource, onset, weight, evidence, is_always })
}

/// What was at its end in the looks in which the server stood still, of most levels where an objective was missed for that;
/// nothing where that is nothing else than what is `known` of all looks.
fn of_stalls(above: &[&Level], light: &Level, known: &[Finding]) -> Option<Vec<Finding>> {
    let with = above.iter().filter(|level| level.stalled.is_some()).count() as f64;
    // Where requests are too many for it as well, it stands still for that.
    let only_late = above.iter().filter(|level| level.is_only_late()).count() as f64;
    let (stalls, level) = Level::while_stalled(above)?;
    if stalls.number < LEAST_STALLS || with < MIN_SHARE_OF_LEVELS * only_late {
        return None;
    }
    let found = |resource| {
        let Sign { strength: weight, said } = sign(resource, &level, light)?;
        Some(Finding { resource, onset: level.rate, weight, evidence: stalls.said(&said), is_always: false })
    };
    let found: Vec<Finding> = RESOURCES.into_iter().filter(can_stall).filter_map(found).collect();
    let is_new = |found: &Finding| known.iter().all(|known| known.resource != found.resource);
    found.iter().any(is_new).then_some(found)
}

/// A server that stands still has connections wait whatever the cause, and a generator is judged by all of its run.
fn can_stall(resource: &Resource) -> bool {
    *resource > Resource::Alternating
}

/// Of rates in rising order, and whether a resource was at its end at each, the one from which on it was, but for a
/// few.
fn onset(shown: &[(f64, bool)]) -> Option<f64> {
    let is_from = |from: &usize| {
        let (_, shows) = shown[*from];
        let most = shown[*from..].iter().filter(|(_, shows)| *shows).count() as f64;
        shows && most >= STEADY * (shown.len() - from) as f64
    };
    (0..shown.len()).find(is_from).map(|from| shown[from].0)
}

/// Of what comes to its end first, or hardly later, what keeps the others waiting; `behind` is the lowest load that was
/// too much.
fn cause<'a>(findings: &[&'a Finding], behind: f64) -> Option<&'a Finding> {
    let first = findings.first()?.onset;
    let is_early = |found: &&&Finding| found.onset <= first * SAME;
    // Who cannot keep up gathers connections until there is no descriptor left.
    let is_of_processors = |found: &Finding| {
        matches!(found.resource, Resource::ServerCpu | Resource::CpuQuota) && found.onset < behind
    };
    let are_gathered = findings.iter().any(|found| is_of_processors(found));
    let is_gathered =
        |found: &Finding| found.resource == Resource::FdLimit && are_gathered && found.onset >= behind;
    let causes = findings.iter().filter(is_early).filter(|found| !is_gathered(found));
    causes.max_by_key(|found| found.resource).copied()
}

/// Of a sign that is not likelier than something that was not seen.
fn too_weak(found: &Finding) -> String {
    format!("Too little speaks for anything. The most: {}: {}", found.resource.name(), found.evidence)
}

fn unexplained(above: &[&Level]) -> Vec<String> {
    if above.iter().any(|level| level.is_watched()) {
        vec!["Nothing that was looked at was at its end.".to_owned()]
    } else {
        vec!["The server was not looked at, so that what holds it up is not known; it can be where it runs on this machine.".to_owned()]
    }
}

/// Which phase takes longer than at a light load.
fn growth(light: &Level, above: &Level) -> Option<String> {
    let phases = |level: &Level| {
        let latency = &level.summary.latency;
        [
            ("connecting", latency.connect.mean),
            ("processing", latency.processing.mean),
            ("transfer", latency.transfer.mean),
        ]
    };
    let grown =
        phases(light).into_iter().zip(phases(above)).map(|((name, before), (_, now))| (name, before, now));
    let (name, before, now) = grown.max_by(|one, other| (one.2 - one.1).total_cmp(&(other.2 - other.1)))?;
    (now > before).then(|| {
        format!(
            "Of the phases of a request {name} grew most, from {:.2} ms at {:.0}/s to {:.2} ms at {:.0}/s.",
            before * 1e3,
            light.rate,
            now * 1e3,
            above.rate
        )
    })
}

#[cfg(test)]
mod tests;
