//! [`Crowd`]: a closed loop instead of a search, for what a server does in all.

use std::num::NonZeroU32;
use std::path::Path;

use stats::MeanEstimate;
use units::Span;

use super::probe::Probe;
use crate::Error;
use crate::parts::Part;

/// So many clients, each with one request after the other, for so long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Crowd {
    /// From 1 on.
    pub clients: NonZeroU32,
    /// For how long they are there before anything is counted, if not for as long as before any probe.
    pub warmup: Option<Span>,
    /// The measuring window.
    pub hold: Span,
}

/// What the clients of a probe got per second together, and its 95 % confidence interval over parts of the window.
pub(super) fn achieved(probe: &Probe, directory: &Path, of_sessions: bool) -> Result<(f64, [f64; 2]), Error> {
    let in_part = |part: &Part| {
        let completed = || part.sessions.values().map(|(_, completed)| completed).sum::<u64>();
        let count = if of_sessions { completed() } else { part.good };
        count as f64 / part.length
    };
    let MeanEstimate { mean, ci } = MeanEstimate::of(Part::read(directory)?.iter().map(in_part));
    let achieved = probe.achieved();
    // By the moment at which requests began, and with those that were refused, it is a little different.
    let ci =
        ci.map(|end| if mean > 0.0 && end.is_finite() { (end * achieved / mean).max(0.0) } else { achieved });
    Ok((achieved, ci))
}
