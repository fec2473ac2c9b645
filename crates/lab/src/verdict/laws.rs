//! Whether what was measured agrees with the laws that hold for any system (Denning and Buzen, "The Operational Analysis
//! of Queueing Network Models", 1978).

use catalogue::watch::processes;
use record::search::ProbeResult;

use super::level::Level;

/// So many times as much, or as little, is not a matter of chance.
const FAR: f64 = 1.15;
const VERY_FAR: f64 = 1.5;
/// The share of requests that may be without a response.
const MAX_LOST: f64 = 0.01;
/// Of fewer requests nothing is concluded.
const ENOUGH: u64 = 100;
/// Of a processor; less is what a server does without requests, too.
const BUSY: f64 = 0.1;

/// What does not agree, in sentences. Little's law says something where clients of closed loops are `one_each`: each has
/// one request under way at all times.
pub(crate) fn broken(probes: &[ProbeResult], levels: &[Level], one_each: bool) -> Vec<String> {
    let valid = || {
        probes.iter().zip(levels).filter(|(probe, Level { summary, .. })| {
            // Who waits for what is lost is in the server's view no more.
            let are_served = summary.errors.total() as f64 <= MAX_LOST * summary.requests as f64;
            probe.not_valid.is_none()
                && summary.responses >= ENOUGH
                && summary.sessions.started == 0
                && are_served
        })
    };
    // With few clients the server waits for the generator, whose own time counts then.
    let closed = valid().filter(|(probe, _)| one_each && probe.clients.is_some());
    let most = closed.max_by_key(|(probe, _)| probe.clients);
    let mut sentences: Vec<String> =
        most.and_then(|(probe, level)| little(probe, level)).into_iter().collect();
    // Above its capacity a server may do other things besides, such as to refuse.
    let kept_up = valid().filter(|(probe, _)| probe.offered.is_some() && probe.behind.is_none());
    sentences.extend(utilisation(kept_up.map(|(_, level)| level)));
    sentences
}

/// Little's law: so many clients, each with a request under way at all times, are throughput times latency.
fn little(probe: &ProbeResult, level: &Level) -> Option<String> {
    let clients = f64::from(probe.clients?);
    let (rate, latency) = (level.summary.rate.achieved, level.summary.latency.total.mean);
    let present = rate * latency;
    (present * FAR < clients || present > clients * FAR).then(|| {
        format!(
            "Suspect: {rate:.0}/s of {:.2} ms each are {present:.1} under way, and there were {clients} clients (Little's law).",
            latency * 1e3
        )
    })
}

/// The utilisation law: what a request needs of a processor is how much is used over how many there are, and equal
/// at every load.
fn utilisation<'a>(levels: impl Iterator<Item = &'a Level>) -> Option<String> {
    let needs = levels.filter_map(|level| {
        let used = level.mean(processes::CPU).filter(|used| *used >= BUSY)?;
        Some((level.rate, used / level.summary.rate.achieved))
    });
    let mut needs: Vec<(f64, f64)> = needs.filter(|(_, need)| need.is_finite()).collect();
    needs.sort_by(|one, other| one.1.total_cmp(&other.1));
    let ((rate, least), (other, most)) = (*needs.first()?, *needs.last()?);
    (most > least * VERY_FAR).then(|| {
        format!(
            "Suspect: a request takes {:.0} us of a processor at {rate:.0}/s and {:.0} us at {other:.0}/s (utilisation law).",
            least * 1e6,
            most * 1e6
        )
    })
}

#[cfg(test)]
mod tests {
    use record::Summary;

    use super::*;

    fn probe(clients: Option<u32>, offered: Option<f64>) -> ProbeResult {
        ProbeResult {
            clients,
            offered,
            achieved: 0.0,
            p50: 0.0,
            p99: 0.0,
            behind: None,
            not_valid: None,
            blind: 0.0,
            used: std::collections::BTreeMap::new(),
            directory: String::new(),
        }
    }

    fn level(rate: f64, latency: f64, cpu: f64) -> Level {
        let mut summary = Summary { requests: 1000, responses: 1000, ..Summary::default() };
        summary.rate.achieved = rate;
        summary.latency.total.mean = latency;
        Level { rate, summary, ..Level::default() }.with(processes::CPU, "apache2", &[cpu])
    }

    #[test]
    fn throughput_times_latency_is_the_number_of_clients() {
        let said = |latency: f64| broken(&[probe(Some(16), None)], &[level(1000.0, latency, 0.5)], true);
        assert_eq!(said(0.016), [""; 0]);
        assert_eq!(
            said(0.010),
            [
                "Suspect: 1000/s of 10.00 ms each are 10.0 under way, and there were 16 clients (Little's law)."
            ]
        );
        assert_eq!(said(0.030).len(), 1);
    }

    #[test]
    fn a_request_needs_the_same_at_every_load() {
        let probes = [probe(None, Some(100.0)), probe(None, Some(200.0))];
        let said = |cpu: f64| broken(&probes, &[level(100.0, 0.01, 0.2), level(200.0, 0.01, cpu)], true);
        assert_eq!(said(0.45), [""; 0]);
        assert_eq!(
            said(0.8),
            [
                "Suspect: a request takes 2000 us of a processor at 100/s and 4000 us at 200/s (utilisation law)."
            ]
        );
        // What was too much is another matter, and what was not seen.
        let mut behind = probes.clone();
        behind[1].behind = Some("5 % got no response".to_owned());
        assert_eq!(broken(&behind, &[level(100.0, 0.01, 0.2), level(200.0, 0.01, 0.8)], true), [""; 0]);
        assert_eq!(said(0.05), [""; 0]);
    }
}
