//! [`Tally`]: the figures of a summary, added up row by row.
//!
//! It sees the same rows that the record keeps, so a summary can be had again from the record.

use std::collections::BTreeMap;

use record::{
    ClassSummary, ErrorCounts, Histogram, LatencySummary, RequestError, RequestRow, SessionOutcome,
    SessionRow, SessionSummary, Window,
};

/// Counts and distributions of what lay in the measuring window.
#[derive(Debug)]
pub(crate) struct Tally {
    window: Window,
    pub(crate) requests: u64,
    pub(crate) responses: u64,
    pub(crate) bytes: u64,
    pub(crate) censored: u64,
    /// Responses whose last byte came inside the window.
    pub(crate) responses_inside: u64,
    /// Sessions that were completed inside the window.
    pub(crate) sessions_inside: u64,
    pub(crate) opened: u64,
    pub(crate) reused: u64,
    pub(crate) syn_retransmits: u64,
    pub(crate) status: BTreeMap<u16, u64>,
    pub(crate) errors: ErrorCounts,
    total: Histogram,
    connect: Histogram,
    processing: Histogram,
    transfer: Histogram,
    duration: Histogram,
    classes: BTreeMap<String, (ClassSummary, Histogram)>,
}

impl Tally {
    /// `classes` are those of the workload's sessions; one that never comes is in the summary too.
    pub(crate) fn new<'a>(window: Window, classes: impl IntoIterator<Item = &'a str>) -> Self {
        Self {
            window,
            requests: 0,
            responses: 0,
            bytes: 0,
            censored: 0,
            responses_inside: 0,
            sessions_inside: 0,
            opened: 0,
            reused: 0,
            syn_retransmits: 0,
            status: BTreeMap::new(),
            errors: ErrorCounts::default(),
            total: Histogram::new(),
            connect: Histogram::new(),
            processing: Histogram::new(),
            transfer: Histogram::new(),
            duration: Histogram::new(),
            classes: classes.into_iter().map(|name| (name.to_owned(), Default::default())).collect(),
        }
    }

    pub(crate) fn request(&mut self, row: &RequestRow) {
        let responded = row.error.is_none();
        if responded && self.window.contains(row.ended()) {
            self.responses_inside += 1;
        }
        if !self.window.contains(row.intended) {
            return;
        }
        self.requests += 1;
        self.bytes += row.bytes;
        self.reused += u64::from(row.reused);
        self.syn_retransmits += u64::from(row.syn_retransmits);
        let connected = row.processing_ns.is_some();
        self.opened += u64::from(connected && !row.reused);
        if responded {
            self.responses += 1;
            *self.status.entry(row.status.unwrap_or(0)).or_default() += 1;
        }
        if let Some(error) = row.error {
            self.errors.add(error);
        }
        let cut_off = matches!(row.error, Some(RequestError::Timeout | RequestError::Censored));
        self.censored += u64::from(cut_off);
        if responded || cut_off {
            self.total.record(row.latency());
            if !row.reused {
                self.connect.record(row.connect_ns);
            }
            if let Some(processing) = row.processing_ns {
                self.processing.record(processing);
            }
            if let Some(transfer) = row.transfer_ns {
                self.transfer.record(transfer);
            }
        }
    }

    pub(crate) fn session(&mut self, row: &SessionRow) {
        let ended = row.started_ns + row.duration_ns + row.think_ns;
        if row.completed && self.window.contains(ended) {
            self.sessions_inside += 1;
        }
        if !self.window.contains(row.started_ns) {
            return;
        }
        let (class, durations) = self.classes.entry(row.class.to_string()).or_default();
        class.started += 1;
        match row.outcome {
            SessionOutcome::Completed => {
                class.completed += 1;
                durations.record(row.duration_ns);
                self.duration.record(row.duration_ns);
            }
            SessionOutcome::Timeout => class.timeout += 1,
            SessionOutcome::Refused => class.refused += 1,
            SessionOutcome::Error => class.error += 1,
            SessionOutcome::Censored => class.censored += 1,
        }
    }

    pub(crate) fn latency(&self) -> LatencySummary {
        LatencySummary {
            total: self.total.quantiles(),
            connect: self.connect.quantiles(),
            processing: self.processing.quantiles(),
            transfer: self.transfer.quantiles(),
        }
    }

    pub(crate) fn sessions(&self) -> SessionSummary {
        let by_class: BTreeMap<String, ClassSummary> = self
            .classes
            .iter()
            .map(|(name, (class, durations))| {
                (name.clone(), ClassSummary { duration: durations.quantiles(), ..*class })
            })
            .collect();
        SessionSummary {
            started: by_class.values().map(|class| class.started).sum(),
            completed: by_class.values().map(|class| class.completed).sum(),
            duration: self.duration.quantiles(),
            by_class,
        }
    }
}
