//! Latencies, a line for each phase.

use std::fmt::{self, Formatter};

use record::{LatencySummary, Quantiles};
use tui::figures;

use crate::measure::percentile::Percentile;
use crate::measure::phase::Phase;
use crate::run::report::Report;

/// Waits before work on a request began that are told, in seconds: those of the generator itself are shorter.
const LEAST_QUEUED: f64 = 1e-3;

pub(super) fn table(f: &mut Formatter<'_>, report: &Report) -> fmt::Result {
    let percentiles = &report.percentiles;
    write!(f, "  {:<11}{:>10}", "latency", "mean")?;
    if percentiles.is_empty() {
        for name in ["p50", "p90", "p95", "p99", "p99.9"] {
            write!(f, "{name:>10}")?;
        }
    }
    for percentile in percentiles {
        write!(f, " {:>9}", percentile.to_string())?;
    }
    writeln!(f, "{:>10}{:>10}", "max", "count")?;
    let latency = &report.summary.latency;
    for phase in Phase::ALL.into_iter().filter(|phase| is_told(*phase, latency)) {
        let q = phase.of(latency);
        write!(f, "  {:<11}", label(phase))?;
        for figure in figures_of(q, percentiles) {
            write!(f, "{:>10}", figures::of(q, figure))?;
        }
        writeln!(f, "{:>10}", q.count)?;
    }
    writeln!(f)
}

fn figures_of(q: &Quantiles, percentiles: &[Percentile]) -> Vec<f64> {
    let mut figures = vec![q.mean];
    if percentiles.is_empty() {
        figures.extend([q.p50, q.p90, q.p95, q.p99, q.p999]);
    }
    figures.extend(percentiles.iter().map(|percentile| percentile.in_summary(q).unwrap_or_default()));
    figures.push(q.max);
    figures
}

fn is_told(phase: Phase, latency: &LatencySummary) -> bool {
    match phase {
        Phase::Queued => latency.queued.max >= LEAST_QUEUED,
        Phase::Dns | Phase::Tls | Phase::Sending => !phase.of(latency).is_empty(),
        Phase::Total | Phase::Connect | Phase::Processing | Phase::Transfer => true,
    }
}

fn label(phase: Phase) -> &'static str {
    match phase {
        Phase::Dns => "look-up",
        Phase::Tls => "TLS",
        _ => phase.name(),
    }
}
