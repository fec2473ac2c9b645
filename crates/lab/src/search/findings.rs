//! [`Findings`]: what a search learns, and what it says of the capacity.

use std::time::Duration;

use record::search::{Capacity, ProbeResult, SearchResult};

use super::bracket::Bracket;
use super::result::{is_at, kept_up};
use super::scalability;
use crate::error::Error;

/// Less is not worth telling.
const MIN_BLIND: f64 = 0.005;

/// What a search learns.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    /// Clients of closed loops, and what they achieved together.
    pub(super) closed: Vec<(f64, f64)>,
    pub(super) bracket: Bracket,
    /// What a crowd got, and its confidence interval.
    pub(super) crowd: Option<(f64, [f64; 2])>,
    /// What of that was not served.
    pub(super) lost: Option<String>,
    /// After how long it ended before both ends were as near and as certain as they should be.
    pub(super) early: Option<Duration>,
}

impl Findings {
    pub(crate) fn found(&self, unit: &str, probes: Vec<ProbeResult>) -> SearchResult {
        let scalability = scalability::fit(&self.closed);
        if let Some((rate, ci)) = self.crowd {
            let capacity = Some(Capacity { rate, ci, unit: unit.to_owned() });
            let basis = probes.last().map(|probe| {
                format!(
                    "{} clients got that, with {:.2} ms in the median, 99 % within {:.2} ms.",
                    probe.clients.unwrap_or_default(),
                    probe.p50 * 1e3,
                    probe.p99 * 1e3
                )
            });
            let basis = basis.into_iter().chain(self.lost.clone()).collect();
            return SearchResult { capacity, basis, is_of_crowd: true, probes, ..SearchResult::default() };
        }
        let Some([low, high]) = self.bracket.capacity() else {
            return SearchResult { scalability, probes, ..SearchResult::default() };
        };
        let at = |rate: f64| probes.iter().rev().filter(move |probe| is_at(probe, rate));
        let mut basis = Vec::new();
        if let Some(probe) = at(low).find(|probe| kept_up(probe)) {
            basis.push(format!(
                "At {low:.0}/s it kept up: {:.2} ms in the median, 99 % within {:.2} ms.",
                probe.p50 * 1e3,
                probe.p99 * 1e3
            ));
        }
        if let Some(why) = at(high).find_map(|probe| probe.behind.as_ref()) {
            basis.push(format!("At {high:.0}/s it did not: {why}."));
        }
        let between = |probe: &&ProbeResult| {
            probe.offered.is_some_and(|rate| low * 1.001 < rate && rate < high * 0.999)
        };
        match probes.iter().filter(between).count() {
            0 => {}
            count => basis.push(format!("{count} probes between these rates contradict each other.")),
        }
        let blind = at(low).filter(|probe| kept_up(probe)).map(|probe| probe.blind).fold(0.0, f64::max);
        if blind > MIN_BLIND {
            basis.push(format!(
                "At {low:.0}/s, what waits grew by up to {:.1} % of what arrived, which is chance or less than half of the precision; the interval begins that much lower.",
                blind * 100.0
            ));
        }
        let ci = [low * (1.0 - blind.min(1.0)), high];
        // Nothing is known of the lower end where everything could be chance.
        let least = if ci[0] > 0.0 { ci[0] } else { low };
        let capacity = Some(Capacity { rate: (least * high).sqrt(), ci, unit: unit.to_owned() });
        let ended_early = self.early.map(|after| after.as_secs_f64());
        let mut found =
            SearchResult { capacity, basis, ended_early, scalability, probes, ..SearchResult::default() };
        found.basis.extend(found.early());
        found
    }

    /// Whether what was found is the server's capacity.
    pub(crate) fn check(&self, found: &SearchResult) -> Result<(), Error> {
        if self.crowd.is_some() {
            let why = found.probes.last().and_then(|probe| probe.not_valid.clone());
            return why.map_or(Ok(()), |why| Err(Error::NotTheServers(why)));
        }
        let open = || found.probes.iter().filter(|probe| probe.offered.is_some());
        let Some(Capacity { ci: [low, high], .. }) = found.capacity else {
            return Err(match (no_capacity(open()), self.early) {
                // More was to be tried.
                (Error::Capacity(_) | Error::KeptUp(_), Some(after)) => Error::Capacity(format!(
                    "the search ended after {} s, before there was a rate that the server keeps up with and one that it does not; a ramp (--ramp) has the time",
                    after.as_secs()
                )),
                (error, _) => error,
            });
        };
        let at_high = || open().filter(|probe| is_at(probe, high));
        match at_high().find_map(|probe| probe.not_valid.as_ref()) {
            Some(why) if at_high().all(|probe| probe.behind.is_none()) => Err(Error::NotTheServers(format!(
                "the server kept up with {low:.0}/s, and {high:.0}/s could not be offered as they should be: {why}"
            ))),
            _ => Ok(()),
        }
    }
}

fn no_capacity<'a>(open: impl Iterator<Item = &'a ProbeResult> + Clone) -> Error {
    let rate = |probe: &&ProbeResult| probe.offered.unwrap_or_default();
    let highest = open.clone().max_by(|one, other| rate(one).total_cmp(&rate(other)));
    let lowest = open.min_by(|one, other| rate(one).total_cmp(&rate(other)));
    match (lowest, highest) {
        (_, Some(highest)) if kept_up(highest) => Error::KeptUp(rate(&highest)),
        (Some(lowest), _) => match (&lowest.behind, &lowest.not_valid) {
            (_, Some(why)) => Error::NotTheServers(why.clone()),
            (Some(why), _) => Error::Capacity(format!(
                "the server kept up with no rate, down to {:.0}/s: {why}",
                rate(&lowest)
            )),
            _ => Error::Capacity("the probes contradict each other".to_owned()),
        },
        _ => Error::Capacity("nothing was tried".to_owned()),
    }
}
