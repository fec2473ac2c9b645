//! [`Steps`]: which probe is made next.

use std::collections::VecDeque;
use std::time::Duration;

use record::search::{ProbeResult, SearchResult};
use units::Rate;

use super::findings::Findings;
use super::options::SearchOptions;
use super::probe::{Probe, ProbeOutcome};
use super::result;
use super::schedule::{ProbePlan, RestPlan, Schedule};
use crate::error::Error;
use crate::load::backlog::Counted;

/// The unit of a capacity that is not of sessions.
pub(crate) const REQUESTS: &str = "requests/s";
/// The most clients of a closed loop, and connections of an open one.
pub(crate) const MAX_CLIENTS: u32 = 1024;
/// From one closed loop to the next, until the server does hardly more.
const TIMES: u32 = 4;
const HARDLY_MORE: f64 = 1.05;
/// When a search ends that knows between which rates the capacity lies, however far they are apart, and when any
/// does.
const ENOUGH: Duration = Duration::from_secs(50);
const MAX_TIME: Duration = Duration::from_secs(150);
/// Of what closed loops achieved, to see what the server does at lighter loads.
const LIGHT: [f64; 3] = [0.25, 0.5, 0.75];
/// Where the generator could offer none of these as it should.
const LIGHTER: [f64; 2] = [0.1, 0.04];

/// What is to be done next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Next {
    /// To be made; what came of it is to be [added](Steps::add).
    Probe(ProbePlan),
    /// The server is to come to rest.
    Rest(RestPlan),
    /// The search has ended.
    Nothing,
}

/// Where a search is.
#[derive(Debug)]
enum Phase {
    /// One client, which has to be answered; what it gets says how long all else has to take.
    Alone {
        again: bool,
    },
    /// A closed loop instead of a search.
    Crowd,
    /// All rates of a ramp, whatever comes of each, and again those that others contradict.
    Ramp(VecDeque<Rate>),
    /// More clients, until they are of hardly any use.
    Closed {
        clients: u32,
        most: f64,
    },
    /// Less than the server can do.
    Light {
        first: Rate,
        left: VecDeque<f64>,
        is_possible: bool,
    },
    /// Open loops around what closed ones achieved.
    Narrow {
        first: Rate,
    },
    Ended,
}

/// A search for a capacity: results of probes come in, and the next probe goes out.
#[derive(Debug)]
pub(crate) struct Steps<'a> {
    search: &'a SearchOptions,
    phase: Phase,
    schedule: Schedule,
    findings: Findings,
    results: Vec<ProbeResult>,
    is_rest_due: bool,
}

impl<'a> Steps<'a> {
    pub(crate) fn new(search: &'a SearchOptions) -> Self {
        Self {
            search,
            phase: Phase::Alone { again: false },
            schedule: Schedule::default(),
            findings: Findings::default(),
            results: Vec::new(),
            is_rest_due: false,
        }
    }

    /// What is to be done next, so long after the search began.
    pub(crate) fn next(&mut self, elapsed: Duration) -> Next {
        if let (true, Some(rest)) = (std::mem::take(&mut self.is_rest_due), self.schedule.rest()) {
            return Next::Rest(rest);
        }
        let plan = match &mut self.phase {
            Phase::Alone { again } => Some(self.schedule.alone(*again)),
            Phase::Crowd => self.search.crowd.map(|crowd| self.schedule.crowd(crowd)),
            Phase::Ramp(rates) => {
                let rate = rates.pop_front().or_else(|| self.findings.bracket.doubtful());
                rate.map(|rate| self.schedule.open(rate, self.search))
            }
            Phase::Closed { clients, .. } => {
                if *clients >= MAX_CLIENTS || elapsed > MAX_TIME / 3 {
                    return self.end_closed(elapsed);
                }
                *clients *= TIMES;
                Some(self.schedule.closed(*clients))
            }
            Phase::Light { first, left, is_possible } => {
                let is_wanted = |share: &f64| {
                    // Of a server so slow one has to do.
                    let is_enough = !LIGHT.contains(share) || elapsed > MAX_TIME / 2;
                    !(*is_possible && is_enough)
                };
                let share = std::iter::from_fn(|| left.pop_front()).find(is_wanted);
                match share {
                    Some(share) => Some(self.schedule.light(first.scaled(share))),
                    None => {
                        self.phase =
                            if *is_possible { Phase::Narrow { first: *first } } else { Phase::Ended };
                        return self.next(elapsed);
                    }
                }
            }
            Phase::Narrow { first } => {
                let first = *first;
                self.narrow(first, elapsed)
            }
            Phase::Ended => None,
        };
        match plan {
            Some(plan) => Next::Probe(plan),
            None => {
                self.phase = Phase::Ended;
                Next::Nothing
            }
        }
    }

    fn end_closed(&mut self, elapsed: Duration) -> Next {
        let most = self.findings.closed.iter().map(|(_, achieved)| *achieved).fold(0.0, f64::max);
        self.phase = match Rate::per_second(most) {
            Some(first) => {
                let left = LIGHT.into_iter().chain(LIGHTER).collect();
                Phase::Light { first, left, is_possible: false }
            }
            None => Phase::Ended,
        };
        self.is_rest_due = true;
        self.next(elapsed)
    }

    fn narrow(&mut self, first: Rate, elapsed: Duration) -> Option<ProbePlan> {
        let rate = self.findings.bracket.next(first, self.search.precision.as_f64())?;
        let enough = if self.findings.bracket.capacity().is_some() { ENOUGH } else { MAX_TIME };
        if elapsed > enough {
            self.findings.early = Some(elapsed);
            return None;
        }
        Some(self.schedule.open(rate, self.search))
    }

    /// Learns what came of the probe that was given last, whose record is in `directory`.
    ///
    /// # Errors
    /// When nothing more can be learnt.
    pub(crate) fn add(&mut self, probe: &Probe, directory: String) -> Result<(), Error> {
        let precision = self.search.precision;
        self.results.push(result::of(probe, directory, precision));
        let outcome = probe.outcome(precision);
        let achieved = probe.achieved();
        match &mut self.phase {
            Phase::Alone { again } => {
                if !*again && Schedule::is_too_slow(achieved) {
                    *again = true;
                    return Ok(());
                }
                self.know(probe, achieved)?;
            }
            Phase::Crowd => {
                if achieved <= 0.0 {
                    let (clients, why) = (probe.clients(), probe.complaints());
                    return Err(Error::Capacity(format!("{clients} clients got nothing{why}")));
                }
                self.findings.lost = probe.lost();
                self.findings.crowd = Some(probe.achieved_within());
                self.phase = Phase::Ended;
            }
            Phase::Closed { clients, most } => {
                let is_valid = probe.summary.client.valid && achieved > 0.0;
                if is_valid {
                    self.findings.closed.push((f64::from(*clients), achieved));
                }
                if !is_valid || achieved < *most * HARDLY_MORE {
                    *clients = MAX_CLIENTS;
                } else {
                    *most = achieved;
                }
            }
            Phase::Light { is_possible, .. } => {
                // Of few requests it takes but few to be late.
                let is_valid = !matches!(outcome, ProbeOutcome::NotValid(_));
                *is_possible |= is_valid;
                self.is_rest_due = outcome != ProbeOutcome::KeptUp;
                if let (true, Some(rate)) = (is_valid, probe.rate()) {
                    self.findings.bracket.add(rate, outcome == ProbeOutcome::KeptUp);
                }
            }
            Phase::Ramp(_) | Phase::Narrow { .. } => {
                self.is_rest_due = outcome != ProbeOutcome::KeptUp;
                if let Some(rate) = probe.rate() {
                    self.findings.bracket.add(rate, outcome == ProbeOutcome::KeptUp);
                }
            }
            Phase::Ended => {}
        }
        Ok(())
    }

    /// What a client alone achieves says how long all else has to take.
    fn know(&mut self, probe: &Probe, achieved: f64) -> Result<(), Error> {
        let counted = if probe.summary.sessions.started > 0 { Counted::Sessions } else { Counted::Requests };
        self.schedule.know(achieved, counted);
        if achieved <= 0.0 || probe.wrong() > 0.5 {
            let why = probe.complaints();
            return Err(Error::Capacity(if counted == Counted::Sessions && why.is_empty() {
                "a single session takes longer than 10 s, too long for a search; `headworks lab run` has the time".to_owned()
            } else {
                format!("a single client was not served as it should be{why}")
            }));
        }
        self.phase = match (self.search.crowd, &self.search.ramp) {
            (Some(_), _) => Phase::Crowd,
            (None, Some(ramp)) => {
                let levels = ramp.levels().into_iter().filter(|level| *level > 0.0);
                Phase::Ramp(levels.filter_map(Rate::per_second).collect())
            }
            (None, None) => {
                self.findings.closed.push((1.0, achieved));
                Phase::Closed { clients: 1, most: achieved }
            }
        };
        Ok(())
    }

    /// What is kept of the probes so far.
    pub(crate) fn results(&self) -> &[ProbeResult] {
        &self.results
    }

    /// What was found.
    pub(crate) fn found(&self) -> SearchResult {
        let unit = match self.schedule.counted() {
            Counted::Sessions => "sessions/s",
            Counted::Requests => REQUESTS,
        };
        self.findings.found(unit, self.results.clone())
    }

    /// Whether what was found is the server's capacity.
    ///
    /// # Errors
    /// Why it is not.
    pub(crate) fn check(&self, found: &SearchResult) -> Result<(), Error> {
        self.findings.check(found)
    }
}

#[cfg(test)]
mod tests;
