//! What the bottleneck may be, and how likely each is.

use record::search::{Candidate, Resource};

use super::level::Level;
use super::signs::{Nearly, nearly};

/// Loads that differ by less are one load: chance decides which of two resources is at its end first.
pub(super) const SAME: f64 = 1.1;

/// What is known of a resource that is at its end.
pub(super) struct Finding {
    pub(super) resource: Resource,
    /// From which load on.
    pub(super) onset: f64,
    /// Of the levels above the capacity, the share that shows it, each by how far its sign goes.
    pub(super) weight: f64,
    pub(super) evidence: String,
    /// Whether it is so at much less than what was too much as well.
    pub(super) is_always: bool,
}

/// What a resource weighs that is a consequence of another, that comes later, or that is at its end whatever the load,
/// over what it would weigh alone; and something of which there is no sign at all.
const CONSEQUENCE: f64 = 0.04;
const LATER: f64 = 0.04;
const ALWAYS: f64 = 0.02;
const UNSEEN: f64 = 0.05;
/// And what is not at its end, but would be the next, from this share of it on.
const NEXT: f64 = 0.03;
const NEAR: f64 = 0.25;
/// All signs together have to weigh so much for that to be all that is left for it.
const SEEN: f64 = 0.8;

/// The findings as candidates, the likeliest first; then what was looked at, at a load that was too much, and is not at its
/// end. `cause` is what keeps others waiting of those that come first.
pub(super) fn candidates(findings: &[Finding], cause: Option<Resource>, behind: &Level) -> Vec<Candidate> {
    let first = findings.iter().filter(|found| !found.is_always).map(|found| found.onset);
    let first = first.fold(f64::INFINITY, f64::min);
    let weighed = findings.iter().map(|found| {
        let (share, against) = if found.is_always {
            (ALWAYS, Some(format!("It is so from {:.0}/s on, which is served well.", found.onset)))
        } else if Some(found.resource) == cause {
            (1.0, None)
        } else if found.onset > first * SAME {
            let against = format!("It comes later, from {:.0}/s on.", found.onset);
            (LATER, Some(against))
        } else {
            let by = cause.map_or("another", Resource::name);
            (CONSEQUENCE, Some(format!("What waits for {by} looks like this as well.")))
        };
        (found, found.weight * share, against)
    });
    let weighed: Vec<_> = weighed.collect();
    let next = not_at_their_end(findings, behind);
    let seen: f64 =
        weighed.iter().map(|(_, weight, _)| weight).chain(next.iter().map(|(weight, _)| weight)).sum();
    let all = UNSEEN + seen.max(SEEN);
    let mut candidates: Vec<Candidate> = weighed
        .into_iter()
        .map(|(found, weight, against)| Candidate {
            name: found.resource,
            probability: weight / all,
            supports: vec![found.evidence.clone()],
            contradicts: against.into_iter().collect(),
        })
        .collect();
    candidates.extend(next.into_iter().map(|(weight, nearly)| Candidate {
        name: nearly.resource,
        probability: weight / all,
        supports: Vec::new(),
        contradicts: vec![nearly.said],
    }));
    candidates.sort_by(|one, other| other.probability.total_cmp(&one.probability));
    candidates
}

/// What was looked at and is not at its end, each with what it weighs.
fn not_at_their_end(findings: &[Finding], behind: &Level) -> Vec<(f64, Nearly)> {
    let mut others = nearly(behind);
    others.retain(|nearly| findings.iter().all(|found| found.resource != nearly.resource));
    let weighed = others.into_iter().map(|nearly| {
        let beyond = (nearly.share - NEAR) / (1.0 - NEAR);
        (NEXT * beyond.clamp(0.0, 1.0), nearly)
    });
    weighed.collect()
}

/// Of the candidates the one that is named: the likeliest, if that is likelier than that it is something of which there is no
/// sign.
pub(super) fn likeliest(candidates: &[Candidate]) -> Option<&Candidate> {
    let unseen = 1.0 - candidates.iter().map(|candidate| candidate.probability).sum::<f64>();
    candidates.first().filter(|candidate| candidate.probability > unseen)
}
