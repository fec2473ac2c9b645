//! What a search found, on standard output.

use std::io::Write as _;

use anyhow::Context;
use record::search::{Capacity, SearchResult, Verdict};

/// On standard output, in words or as JSON.
pub(super) fn show(found: &SearchResult, json: bool) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    let written = if json {
        writeln!(out, "{}", serde_json::to_string(found)?)
    } else {
        out.write_all(text(found).as_bytes())
    };
    written.context("cannot write to standard output")
}

/// In words.
pub(super) fn text(found: &SearchResult) -> String {
    let mut text = String::new();
    if let Some(Capacity { rate, ci: [low, high], unit }) = &found.capacity {
        text += &format!("capacity {rate:.1} {unit} ({low:.1} to {high:.1})\n");
    }
    for sentence in &found.basis {
        text += &format!("{sentence}\n");
    }
    text += &said(&found.verdict);
    if let Some(law) = found.scalability {
        let peak = law.peak().map_or_else(
            || "more clients never do less".to_owned(),
            |clients| format!("{:.0}/s with {clients:.0} clients are the most", law.rate(clients)),
        );
        text += &format!(
            "With N clients: {:.0} N / (1 + {:.4} (N - 1) + {:.2e} N (N - 1)) per second; {peak}.\n",
            law.alone, law.contention, law.coherence
        );
    }
    text
}

/// Candidates that are less likely are in JSON and in the report.
const WORTH_TELLING: f64 = 0.02;

/// The verdict in words.
fn said(verdict: &Verdict) -> String {
    let Verdict { bottleneck, confidence, candidates, onset, evidence, next } = verdict;
    let mut text = match bottleneck {
        Some(bottleneck) => {
            format!("bottleneck {}, confidence {:.0} %\n", bottleneck.name(), confidence * 100.0)
        }
        None => "bottleneck unknown\n".to_owned(),
    };
    let others = candidates.iter().filter(|other| Some(other.name) != *bottleneck);
    let others = others.filter(|other| other.probability >= WORTH_TELLING);
    let others: Vec<_> = others
        .map(|other| {
            let against = other.contradicts.first().map_or_else(String::new, |why| format!(": {why}"));
            format!("  {} {:.0} %{against}\n", other.name.name(), other.probability * 100.0)
        })
        .collect();
    for sentence in evidence.iter().chain(next) {
        text += &format!("  {sentence}\n");
    }
    if !others.is_empty() {
        text += &format!("It could also be\n{}", others.concat());
    }
    let onset: Vec<_> =
        onset.iter().map(|it| format!("{} at {:.0}/s", it.resource.name(), it.rate)).collect();
    if onset.len() > 1 {
        text += &format!("  Onset: {}.\n", onset.join(", "));
    }
    text
}
