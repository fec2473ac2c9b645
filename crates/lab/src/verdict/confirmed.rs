//! What a verdict is worth after what it names was relieved.

use record::search::{Capacity, Relief, Resource, SearchResult};

/// How likely it is that something is the bottleneck whose relief raised the capacity; and of what it was before, how
/// likely it is where that did not.
const RAISED: f64 = 0.98;
const NOT_RAISED: f64 = 0.05;

/// Changes the verdict to what its reliefs say, if there are any.
pub(crate) fn confirmed(found: &mut SearchResult) {
    for relief in &found.reliefs {
        let sentence = sentence(relief);
        let Some(holds) = relief.holds() else {
            found.verdict.evidence.push(sentence);
            continue;
        };
        for candidate in &mut found.verdict.candidates {
            match (candidate.name == relief.resource, holds) {
                (true, true) => {
                    candidate.probability = RAISED;
                    candidate.supports.push(sentence.clone());
                }
                (true, false) => {
                    candidate.probability *= NOT_RAISED;
                    candidate.contradicts.push(sentence.clone());
                }
                (false, true) => candidate.probability *= 1.0 - RAISED,
                (false, false) => {}
            }
        }
    }
    let tried = |resource: Resource| found.reliefs.iter().find(|relief| relief.resource == resource);
    let raised = found.reliefs.iter().find(|relief| relief.holds() == Some(true));
    let is_withdrawn = found.verdict.bottleneck.and_then(tried).and_then(Relief::holds) == Some(false);
    found.verdict.candidates.sort_by(|one, other| other.probability.total_cmp(&one.probability));
    match raised {
        Some(relief) if found.verdict.bottleneck == Some(relief.resource) => {
            found.verdict.confidence = RAISED;
            found.verdict.evidence.insert(0, sentence(relief));
        }
        Some(relief) => {
            let withdrawn = found.reliefs.iter().filter(|other| other.resource != relief.resource);
            let mut evidence = vec![sentence(relief)];
            let own = found.verdict.candidates.iter().find(|candidate| candidate.name == relief.resource);
            evidence.extend(own.into_iter().flat_map(|own| own.supports.first().cloned()));
            evidence.extend(withdrawn.map(sentence));
            found.verdict.bottleneck = Some(relief.resource);
            found.verdict.confidence = RAISED;
            found.verdict.evidence = evidence;
            found.verdict.next = vec![format!("Do for good what was tried: {}.", relief.said)];
        }
        None if is_withdrawn => {
            let mut evidence: Vec<String> = found.reliefs.iter().map(sentence).collect();
            evidence.append(&mut found.verdict.evidence);
            found.verdict.bottleneck = None;
            found.verdict.confidence = 0.0;
            found.verdict.evidence = evidence;
            found.verdict.next = Vec::new();
        }
        None => {}
    }
}

/// Before and after.
pub(crate) fn sentence(relief: &Relief) -> String {
    let name = relief.resource.name();
    let rate = |Capacity { rate, ci: [low, high], unit }: &Capacity| {
        format!("{rate:.1} {unit} ({low:.1} to {high:.1})")
    };
    match (&relief.after, relief.holds()) {
        (Some(after), Some(true)) => format!(
            "Confirmed: with {} it carried {} instead of {}, {:.2} times as much.",
            relief.said,
            rate(after),
            rate(&relief.before),
            relief.times().unwrap_or_default()
        ),
        (Some(after), _) => format!(
            "Not {name}: with {} it carried {}, and {} without.",
            relief.said,
            rate(after),
            rate(&relief.before)
        ),
        (None, _) if relief.settings.is_empty() => format!("{name} was not relieved: {}.", relief.said),
        (None, _) => {
            format!("With {} no capacity was found, so that nothing is known of {name}.", relief.said)
        }
    }
}

#[cfg(test)]
mod tests {
    use record::search::{Candidate, Verdict};

    use super::*;

    fn capacity(rate: f64) -> Capacity {
        Capacity { rate, ci: [0.95 * rate, 1.05 * rate], unit: "requests/s".to_owned() }
    }

    fn found(reliefs: &[(Resource, Option<f64>)]) -> SearchResult {
        let candidate = |name, probability| Candidate {
            name,
            probability,
            supports: vec!["It is full.".to_owned()],
            contradicts: Vec::new(),
        };
        let mut found = SearchResult {
            capacity: Some(capacity(100.0)),
            verdict: Verdict {
                bottleneck: Some(Resource::WorkerLimit),
                confidence: 0.8,
                candidates: vec![candidate(Resource::WorkerLimit, 0.8), candidate(Resource::CpuQuota, 0.1)],
                ..Verdict::default()
            },
            ..SearchResult::default()
        };
        found.reliefs = reliefs
            .iter()
            .map(|(resource, after)| Relief {
                resource: *resource,
                settings: vec!["a=b".to_owned()],
                said: "twice as much".to_owned(),
                before: capacity(100.0),
                after: after.map(capacity),
                directory: None,
            })
            .collect();
        confirmed(&mut found);
        found
    }

    #[test]
    fn what_raises_the_capacity_is_the_bottleneck() {
        let holds = found(&[(Resource::WorkerLimit, Some(190.0))]).verdict;
        assert_eq!((holds.bottleneck, holds.confidence), (Some(Resource::WorkerLimit), RAISED));
        assert!(
            holds.evidence[0].contains("190.0 requests/s (180.5 to 199.5) instead of 100.0"),
            "{holds:?}"
        );
        assert!(holds.candidates.iter().map(|one| one.probability).sum::<f64>() < 1.0);
        let other = found(&[(Resource::WorkerLimit, Some(103.0)), (Resource::CpuQuota, Some(200.0))]).verdict;
        assert_eq!(other.bottleneck, Some(Resource::CpuQuota));
        assert!(other.evidence.iter().any(|it| it.starts_with("Not worker-limit")), "{other:?}");
    }

    #[test]
    fn what_does_not_is_withdrawn() {
        let none = found(&[(Resource::WorkerLimit, Some(103.0)), (Resource::CpuQuota, Some(98.0))]).verdict;
        assert_eq!((none.bottleneck, none.confidence), (None, 0.0));
        // More, but within what is not known of both.
        assert_eq!(found(&[(Resource::WorkerLimit, Some(108.0))]).verdict.bottleneck, None);
        // What could not be tried stays as it was.
        let untried = found(&[(Resource::WorkerLimit, None)]).verdict;
        assert_eq!((untried.bottleneck, untried.confidence), (Some(Resource::WorkerLimit), 0.8));
    }
}
