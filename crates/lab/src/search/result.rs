//! What is kept of a probe, and asked of it later.

use std::collections::BTreeMap;

use record::search::ProbeResult;
use units::Ratio;

use super::probe::{Probe, ProbeOutcome};
use crate::load::generator::Offer;

/// What is kept of a probe.
pub(super) fn of(probe: &Probe, directory: String, precision: Ratio) -> ProbeResult {
    let latency = &probe.summary.latency.total;
    let (clients, offered) = match probe.offer {
        Offer::Closed(clients) => (Some(clients), None),
        Offer::Rate(rate) => (None, Some(rate.as_f64())),
    };
    let (behind, not_valid) = match probe.outcome(precision) {
        ProbeOutcome::Behind(why) if offered.is_some() => (Some(why), None),
        ProbeOutcome::NotValid(why) => (None, Some(why)),
        ProbeOutcome::KeptUp | ProbeOutcome::Behind(_) => (None, None),
    };
    let (achieved, p50, p99) = (probe.achieved(), latency.p50, latency.p99);
    let blind = probe.may_have_grown();
    let used = BTreeMap::new();
    ProbeResult { clients, offered, achieved, p50, p99, behind, not_valid, blind, used, directory }
}

/// Whether the server kept up.
pub(super) fn kept_up(probe: &ProbeResult) -> bool {
    probe.behind.is_none() && probe.not_valid.is_none()
}

/// Whether this rate was offered.
pub(crate) fn is_at(probe: &ProbeResult, rate: f64) -> bool {
    probe.offered.is_some_and(|offered| (offered / rate - 1.0).abs() < 1e-6)
}
