//! [`Aggregate`]: the figures of a summary, added up request by request.

use std::borrow::Cow;
use std::collections::BTreeMap;

use record::{
    ClassSummary, ErrorCounts, ErrorDetail, Quantiles, RequestError, SessionOutcome, SessionRow,
    SessionSummary,
};
use stats::Histogram;

use crate::measure::finished::Finished;
use crate::measure::phase::Phases;

/// Reasons of errors that are told apart; servers that write something else into each must not fill the memory.
const MAX_DETAILS: usize = 64;

/// Counts and distributions. Those of several threads, or of one stretch of time after another,
/// are added up.
#[derive(Debug, Clone, Default)]
pub(crate) struct Aggregate {
    pub(crate) requests: u64,
    /// Those of them that redirects have led to.
    pub(crate) hops: u64,
    pub(crate) responses: u64,
    pub(crate) bytes: u64,
    pub(crate) censored: u64,
    pub(crate) opened: u64,
    pub(crate) reused: u64,
    pub(crate) syn_retransmits: u64,
    /// Connections that did not come about in the time of a request.
    pub(crate) connect_timeouts: u64,
    pub(crate) status: BTreeMap<u16, u64>,
    pub(crate) errors: ErrorCounts,
    details: BTreeMap<(RequestError, Cow<'static, str>), u64>,
    pub(crate) phases: Phases,
    /// Of completed sessions.
    duration: Histogram,
    /// In the order of the workload's.
    classes: Vec<(ClassSummary, Histogram)>,
}

impl Aggregate {
    /// One of many: its histograms stay small.
    pub(crate) fn coarse() -> Self {
        Self { phases: Phases::coarse(), duration: Histogram::coarse(), ..Self::default() }
    }

    pub(crate) fn request(&mut self, finished: &Finished) {
        self.requests += 1;
        self.hops += u64::from(finished.is_hop);
        self.bytes += finished.bytes;
        self.reused += u64::from(finished.reused);
        self.syn_retransmits += u64::from(finished.syn_retransmits);
        let connected = finished.is_connected();
        self.opened += u64::from(connected && !finished.reused);
        let responded = finished.error.is_none();
        if responded {
            self.responses += 1;
            *self.status.entry(finished.status.unwrap_or(0)).or_default() += 1;
        }
        if let Some(error) = finished.error {
            self.errors.add(error);
            if error != RequestError::Censored {
                self.detail(error, finished.detail.clone().unwrap_or_default(), 1);
            }
            self.connect_timeouts += u64::from(error == RequestError::Timeout && !connected);
        }
        let cut_off = matches!(finished.error, Some(RequestError::Timeout | RequestError::Censored));
        self.censored += u64::from(cut_off);
        if !responded && !cut_off {
            return;
        }
        self.phases.request(finished);
    }

    fn detail(&mut self, error: RequestError, reason: Cow<'static, str>, count: u64) {
        let is_room = self.details.len() < MAX_DETAILS;
        let reason = if is_room || self.details.contains_key(&(error, reason.clone())) {
            reason
        } else {
            Cow::Borrowed("other reasons")
        };
        *self.details.entry((error, reason)).or_default() += count;
    }

    /// What went wrong how often, the most frequent first.
    pub(crate) fn error_details(&self) -> Vec<ErrorDetail> {
        let detail = |((kind, reason), count): (&(RequestError, Cow<'_, str>), &u64)| ErrorDetail {
            kind: *kind,
            reason: reason.to_string(),
            count: *count,
        };
        let mut all: Vec<ErrorDetail> = self.details.iter().map(detail).collect();
        all.sort_by_key(|detail| std::cmp::Reverse(detail.count));
        all
    }

    pub(crate) fn session(&mut self, class: usize, row: &SessionRow) {
        if self.classes.len() <= class {
            self.classes.resize_with(class + 1, Default::default);
        }
        let Some((summary, durations)) = self.classes.get_mut(class) else { return };
        summary.started += 1;
        match row.outcome {
            SessionOutcome::Completed => {
                summary.completed += 1;
                durations.record(row.duration_ns);
                self.duration.record(row.duration_ns);
            }
            SessionOutcome::Timeout => summary.timeout += 1,
            SessionOutcome::Refused => summary.refused += 1,
            SessionOutcome::Error => summary.error += 1,
            SessionOutcome::Censored => summary.censored += 1,
        }
    }

    /// Forgets everything, and keeps the memory of the histograms.
    pub(crate) fn clear(&mut self) {
        let Self { mut phases, mut duration, .. } = std::mem::take(self);
        phases.clear();
        duration.clear();
        *self = Self { phases, duration, ..Self::default() };
    }

    /// Adds what `other` has.
    pub(crate) fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.hops += other.hops;
        self.responses += other.responses;
        self.bytes += other.bytes;
        self.censored += other.censored;
        self.opened += other.opened;
        self.reused += other.reused;
        self.syn_retransmits += other.syn_retransmits;
        self.connect_timeouts += other.connect_timeouts;
        for (status, count) in &other.status {
            *self.status.entry(*status).or_default() += count;
        }
        self.errors.add_all(&other.errors);
        for ((error, reason), count) in &other.details {
            self.detail(*error, reason.clone(), *count);
        }
        self.phases.add(&other.phases);
        self.duration.add(&other.duration);
        if self.classes.len() < other.classes.len() {
            self.classes.resize_with(other.classes.len(), Default::default);
        }
        for ((mine, durations), (theirs, their_durations)) in self.classes.iter_mut().zip(&other.classes) {
            mine.started += theirs.started;
            mine.completed += theirs.completed;
            mine.timeout += theirs.timeout;
            mine.refused += theirs.refused;
            mine.error += theirs.error;
            mine.censored += theirs.censored;
            durations.add(their_durations);
        }
    }

    /// What became of the sessions of these classes; one that never came is told too.
    pub(crate) fn sessions<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> SessionSummary {
        let none = Default::default();
        let by_class: BTreeMap<String, ClassSummary> = names
            .into_iter()
            .enumerate()
            .map(|(index, name)| {
                let (class, durations) = self.classes.get(index).unwrap_or(&none);
                (name.to_owned(), ClassSummary { duration: Quantiles::of(durations), ..class.clone() })
            })
            .collect();
        SessionSummary {
            started: by_class.values().map(|class| class.started).sum(),
            completed: by_class.values().map(|class| class.completed).sum(),
            duration: Quantiles::of(&self.duration),
            by_class,
        }
    }

    /// How many sessions came to which end: completed, and lost.
    pub(crate) fn session_ends(&self) -> (u64, u64) {
        let started: u64 = self.classes.iter().map(|(class, _)| class.started).sum();
        let completed: u64 = self.classes.iter().map(|(class, _)| class.completed).sum();
        (completed, started - completed)
    }
}
