//! A short run of the generator, and whether the server kept up with it.

use record::{RequestError, Summary};
use stats::MeanEstimate;
use units::{Rate, Ratio, Span};

use crate::load::generator::Offer;

/// What was offered and what came of it.
#[derive(Debug, Clone)]
pub(crate) struct Probe {
    pub(crate) offer: Offer,
    pub(crate) summary: Summary,
    /// See [`crate::load::backlog::Backlog::growth`].
    pub(crate) growth: Option<f64>,
    /// See [`crate::load::backlog::Backlog::blind`].
    pub(crate) blind: f64,
    /// What was completed per second in each part of the window, where the search asks for it.
    pub(crate) parts: Vec<f64>,
}

/// What a probe says of its rate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ProbeOutcome {
    KeptUp,
    /// And why.
    Behind(String),
    /// The generator was what could not keep up, and why.
    NotValid(String),
}

/// Over the precision: so many arrivals are measured, where that does not take too long, so that half of it is
/// several requests that wait.
const ARRIVALS: f64 = 12.0;
const MIN_LENGTH: Span = Span::from_secs(2);
const MAX_LENGTH: Span = Span::from_secs(6);
/// The share of requests that may be without a good response.
const TOLERANCE: f64 = 0.01;
/// Of a processor, used or waited for: a generator that has no more cannot offer more. As `headworks load` has it.
const MAX_BUSY: f64 = 0.9;
const MAX_WAITED: f64 = 0.1;
/// The longest time for which it may stand still, over the window: what it begins at once afterwards is, over a
/// quarter of the window, less than half of a precision of 2 %.
const MAX_STILL: f64 = 0.05;
/// Statuses with which a server says that it cannot serve (RFC 9110, section 15.6, and RFC 6585, section 4).
const TOO_MANY_REQUESTS: u16 = 429;
/// Those that say so of a moment: one who passes on requests may have no way to what stands behind, or no answer in time.
const NOT_NOW: [u16; 4] = [TOO_MANY_REQUESTS, 502, 503, 504];

/// How long a probe at this rate takes that is to be this precise.
pub(crate) fn length(rate: Rate, precision: Ratio) -> Span {
    let arrivals = ARRIVALS / precision.as_f64().max(1e-3);
    Span::from_secs_f64(arrivals / rate.as_f64().max(1.0)).clamp(MIN_LENGTH, MAX_LENGTH)
}

impl Probe {
    /// The share of arrivals by which what waits has grown, or may have grown and not be told from chance.
    pub(crate) fn may_have_grown(&self) -> f64 {
        self.growth.unwrap_or(0.0) + self.blind
    }

    /// Completed sessions per second, or responses without those that say that the server cannot serve.
    pub(crate) fn achieved(&self) -> f64 {
        let refused = if self.summary.sessions.started > 0 { 0.0 } else { self.refused() };
        self.summary.rate.achieved * (1.0 - refused)
    }

    /// What a closed loop achieved, and its 95 % confidence interval over parts of the window.
    pub(crate) fn achieved_within(&self) -> (f64, [f64; 2]) {
        let MeanEstimate { mean, ci } = MeanEstimate::of(self.parts.iter().copied());
        let achieved = self.achieved();
        // By the moment at which requests began, and with those that were refused, it is a little different.
        let ci =
            ci.map(
                |end| if mean > 0.0 && end.is_finite() { (end * achieved / mean).max(0.0) } else { achieved },
            );
        (achieved, ci)
    }

    /// The share of responses that say that the server cannot serve.
    fn refused(&self) -> f64 {
        self.share_of(|status| status >= 500 || status == TOO_MANY_REQUESTS)
    }

    /// Clients of a closed loop.
    pub(crate) fn clients(&self) -> u32 {
        match self.offer {
            Offer::Closed(clients) => clients,
            Offer::Rate(_) => 0,
        }
    }

    /// What an open loop offers.
    pub(crate) fn rate(&self) -> Option<Rate> {
        match self.offer {
            Offer::Rate(rate) => Some(rate),
            Offer::Closed(_) => None,
        }
    }

    /// The share of responses with a status that says that what is asked for is wrong; not one that it is too much, or
    /// not to be had now.
    pub(crate) fn wrong(&self) -> f64 {
        self.share_of(|status| status >= 400 && !NOT_NOW.contains(&status))
    }

    fn share_of(&self, counts: impl Fn(u16) -> bool) -> f64 {
        let with = self.summary.status.iter().filter(|(status, _)| counts(**status));
        with.map(|(_, count)| count).sum::<u64>() as f64 / self.summary.responses.max(1) as f64
    }

    /// What went wrong, as the end of a sentence; empty when nothing did.
    pub(crate) fn complaints(&self) -> String {
        let errors = RequestError::ALL
            .into_iter()
            .map(|error| (error.name().to_owned(), self.summary.errors.get(error)));
        let statuses =
            self.summary.status.range(400..).map(|(status, count)| (format!("status {status}"), *count));
        let all: Vec<_> = errors.chain(statuses).filter(|(_, count)| *count > 0).collect();
        let words: Vec<_> = all.into_iter().map(|(what, count)| format!("{count} times {what}")).collect();
        if words.is_empty() { String::new() } else { format!(": {}", words.join(", ")) }
    }

    /// In a sentence, what got no response, or was refused, where that is more than a little.
    pub(crate) fn lost(&self) -> Option<String> {
        let Summary { requests, errors, .. } = &self.summary;
        let lost = errors.total() as f64 / (*requests).max(1) as f64;
        (lost > TOLERANCE || self.refused() > TOLERANCE).then(|| {
            let complaints = self.complaints();
            format!("Not all were served{complaints}.")
        })
    }

    /// Why what happened is the generator's doing, for the question which rate a server keeps up with.
    ///
    /// That some requests began a few milliseconds late makes their latency doubtful, and so whether an objective
    /// holds; whether the backlog grows it does not change.
    fn is_generators(&self, precision: Ratio) -> Option<String> {
        let Summary { requests, sessions, duration, client, objectives, .. } = &self.summary;
        if client.valid {
            return None;
        }
        let is_saturated =
            client.cpu + client.waited > MAX_BUSY || client.waited > client.cpu.max(MAX_WAITED);
        let stood_still = client.lag.max > MAX_STILL * duration;
        let begun = if sessions.started > 0 { sessions.started } else { *requests };
        let is_short = match self.offer {
            Offer::Rate(rate) => {
                let wanted = rate.as_f64() * duration;
                (begun as f64) < wanted * (1.0 - precision.as_f64() / 2.0) - 3.0 * wanted.sqrt()
            }
            Offer::Closed(_) => false,
        };
        let is_too_little = is_saturated || stood_still || is_short || client.without_port > 0;
        (is_too_little || !objectives.is_empty()).then(|| client.why_invalid.join("; "))
    }

    /// Whether the server kept up. A backlog that grows by less than half of the precision could not be told
    /// from a rate that is as precise.
    pub(crate) fn outcome(&self, precision: Ratio) -> ProbeOutcome {
        let Summary { requests, errors, objectives, .. } = &self.summary;
        if let Some(why) = self.is_generators(precision) {
            return ProbeOutcome::NotValid(why);
        }
        let lost = errors.total() as f64 / (*requests).max(1) as f64;
        if lost > TOLERANCE {
            return ProbeOutcome::Behind(format!("{:.1} % got no response", lost * 100.0));
        }
        if self.refused() > TOLERANCE {
            let share = self.refused() * 100.0;
            return ProbeOutcome::Behind(format!(
                "{share:.1} % were answered with a status of 429, 500 or above"
            ));
        }
        if let Some(growth) = self.growth.filter(|growth| *growth > precision.as_f64() / 2.0) {
            let share = growth * 100.0;
            return ProbeOutcome::Behind(format!("{share:.1} % of what arrived was added to what waits"));
        }
        match objectives.iter().find(|objective| !objective.met) {
            Some(missed) => ProbeOutcome::Behind(format!("{} is missed", missed.objective)),
            None => ProbeOutcome::KeptUp,
        }
    }
}

#[cfg(test)]
mod tests {
    use record::ObjectiveResult;

    use super::*;

    fn probe(change: impl FnOnce(&mut Probe)) -> ProbeOutcome {
        let mut summary = Summary { requests: 2000, responses: 2000, duration: 2.0, ..Summary::default() };
        summary.client.valid = true;
        let offer = Offer::Rate(Rate::per_second(1000.0).unwrap());
        let mut probe = Probe { offer, summary, growth: None, blind: 0.0, parts: Vec::new() };
        change(&mut probe);
        probe.outcome(Ratio::clamped(0.02))
    }

    #[track_caller]
    fn behind(expected: &str, change: impl FnOnce(&mut Probe)) {
        assert_eq!(probe(change), ProbeOutcome::Behind(expected.to_owned()));
    }

    #[test]
    fn a_backlog_errors_statuses_and_objectives_count() {
        assert_eq!(probe(|_| ()), ProbeOutcome::KeptUp);
        assert_eq!(probe(|probe| probe.growth = Some(0.009)), ProbeOutcome::KeptUp);
        behind("5.0 % of what arrived was added to what waits", |probe| probe.growth = Some(0.05));
        behind("1.1 % got no response", |probe| probe.summary.errors.timeout = 21);
        behind("20.0 % were answered with a status of 429, 500 or above", |probe| {
            probe.summary.status.extend([(503, 300), (429, 100), (404, 1600)]);
        });
        behind("p99<1ms is missed", |probe| {
            let objective = "p99<1ms".to_owned();
            probe.summary.objectives.push(ObjectiveResult { objective, measured: Some(0.002), met: false });
        });
    }

    #[test]
    fn a_generator_that_could_not_do_it_says_nothing_of_the_server() {
        let late = |change: fn(&mut Probe)| {
            probe(|probe| {
                probe.growth = Some(0.5);
                probe.summary.client.valid = false;
                probe.summary.client.why_invalid = vec!["it was late".to_owned()];
                change(probe);
            })
        };
        let not_valid = ProbeOutcome::NotValid("it was late".to_owned());
        assert_eq!(late(|probe| probe.summary.client.cpu = 0.95), not_valid);
        assert_eq!(late(|probe| probe.summary.client.waited = 0.3), not_valid);
        assert_eq!(late(|probe| probe.summary.client.lag.max = 0.2), not_valid);
        assert_eq!(late(|probe| probe.summary.client.without_port = 1), not_valid);
        assert_eq!(late(|probe| probe.summary.requests = 1500), not_valid);
        let objective = ObjectiveResult { objective: "p99<1s".to_owned(), measured: Some(0.1), met: true };
        let with_objective = probe(|probe| {
            probe.summary.client.valid = false;
            probe.summary.client.why_invalid = vec!["it was late".to_owned()];
            probe.summary.objectives.push(objective);
        });
        assert_eq!(with_objective, not_valid);
        // Some milliseconds do not make a backlog.
        assert!(matches!(late(|probe| probe.summary.client.lag.max = 0.005), ProbeOutcome::Behind(_)));
    }

    #[test]
    fn slow_servers_are_given_more_time() {
        let length = |rate, precision| length(Rate::per_second(rate).unwrap(), Ratio::clamped(precision));
        assert_eq!([length(5.0, 0.02), length(1e6, 0.02)], [MAX_LENGTH, MIN_LENGTH]);
        assert_eq!(length(200.0, 0.02).as_secs_f64().round(), 3.0);
        assert_eq!(length(200.0, 0.2), MIN_LENGTH, "less has to be known");
    }
}
