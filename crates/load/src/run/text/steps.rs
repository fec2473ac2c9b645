//! The levels of a ramp, a line for each.

use std::fmt::{self, Formatter};

use record::StepSummary;
use tui::figures;

use super::share::percent;

pub(super) fn table(f: &mut Formatter<'_>, steps: &[StepSummary]) -> fmt::Result {
    let Some(first) = steps.first() else { return Ok(()) };
    let done = if first.unit == "sessions/s" { "completed" } else { "answered" };
    writeln!(
        f,
        "  {:<14}{:>10}{:>13}{:>9}{:>10}{:>10}{:>10}{:>10}",
        first.unit,
        "requests",
        format!("{done}/s"),
        "errors",
        "p50",
        "p90",
        "p99",
        "max"
    )?;
    for step in steps {
        let q = &step.latency.total;
        write!(
            f,
            "  {:<14}{:>10}{:>13}{:>9}",
            step.level,
            step.requests,
            figures::number(step.rate.achieved),
            percent(step.errors.total(), step.requests)
        )?;
        for figure in [q.p50, q.p90, q.p99, q.max] {
            write!(f, "{:>10}", figures::of(q, figure))?;
        }
        let missed = step.objectives.iter().filter(|one| !one.met && one.measured.is_some());
        let missed: Vec<&str> = missed.map(|one| one.objective.as_str()).collect();
        if missed.is_empty() { writeln!(f)? } else { writeln!(f, "  misses {}", missed.join(", "))? }
    }
    writeln!(f)
}
