//! What sets the limit of each subject of an experiment, in words.

use record::experiment::Experiment;
use record::search::{Resource, Verdict};
use serde::Serialize;

/// What is at its end, why that is known, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Limit {
    /// A subject, and its settings where it has some.
    pub subject: String,
    /// The limit, as the end of a sentence.
    pub limit: String,
    /// Sentences with figures.
    pub evidence: Vec<String>,
    /// What to do.
    pub next: Vec<String>,
}

/// As they were judged when the experiment ended.
pub(crate) fn all(experiment: &Experiment) -> Vec<Limit> {
    let limits = experiment.limits.iter();
    limits
        .map(|limit| Limit {
            subject: limit.subject.clone(),
            limit: words(&limit.verdict),
            evidence: limit.verdict.evidence.clone(),
            next: limit.verdict.next.clone(),
        })
        .collect()
}

/// The end of a sentence.
pub(crate) fn words(verdict: &Verdict) -> String {
    match verdict.bottleneck {
        None => "what sets the limit is unknown".to_owned(),
        Some(Resource::None) => "nothing came to its end".to_owned(),
        Some(limit) => format!("the limit is {} ({})", limit.described(), limit.name()),
    }
}
