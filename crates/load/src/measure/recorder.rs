//! [`Recorder`]: what a thread's requests and sessions add up to, and their rows for the record.

use std::io;
use std::sync::mpsc::SyncSender;

use record::{RequestError, RequestRow, SessionRow, Step, Window};
use stats::Histogram;
use traffic::PoissonCheck;
use units::{Span, Time};

use crate::measure::aggregate::Aggregate;
use crate::measure::finished::{Finished, Names};
use crate::measure::shortage::Shortage;
use crate::measure::steps::Steps;

/// Rows go to the writer in batches of this size.
const ROWS: usize = 1024;

/// What a thread has seen since it was last asked.
#[derive(Debug, Clone, Default)]
pub(crate) struct Figures {
    /// What was intended inside the measuring window, and outside of it.
    pub(crate) inside: Aggregate,
    pub(crate) outside: Aggregate,
    /// Responses whose last byte came inside the window.
    pub(crate) responses_inside: u64,
    /// Sessions that were completed inside the window.
    pub(crate) sessions_inside: u64,
    /// By the levels of a ramp.
    pub(crate) steps: Steps,
    pub(crate) lag: Histogram,
    /// Connections that failed by the generator's fault.
    pub(crate) lacked: Shortage,
    /// Times in the window that a client of a closed loop waited because no connection had come about.
    pub(crate) waits: u64,
    /// Requests intended in the window that found as much under way as there may be.
    pub(crate) queued: u64,
    /// Whether a request was ever sent, warm-up included.
    pub(crate) ever_connected: bool,
    /// Why the last connection that failed did.
    pub(crate) last_refusal: Option<String>,
}

impl Figures {
    /// Forgets everything, and keeps the memory of the histograms.
    pub(crate) fn clear(&mut self) {
        let Self { mut inside, mut outside, mut steps, mut lag, .. } = std::mem::take(self);
        inside.clear();
        outside.clear();
        steps.clear();
        lag.clear();
        *self = Self { inside, outside, steps, lag, ..Self::default() };
    }

    /// The work that a rate is of: sessions completed, or responses received, inside the window.
    pub(crate) fn done(&self, sessions: bool) -> u64 {
        if sessions { self.sessions_inside } else { self.responses_inside }
    }

    /// Adds what `other` has seen.
    pub(crate) fn add(&mut self, other: &Self) {
        self.inside.add(&other.inside);
        self.outside.add(&other.outside);
        self.responses_inside += other.responses_inside;
        self.sessions_inside += other.sessions_inside;
        self.steps.add(&other.steps);
        self.lag.add(&other.lag);
        self.lacked.add(other.lacked);
        self.waits += other.waits;
        self.queued += other.queued;
        self.ever_connected |= other.ever_connected;
        if other.last_refusal.is_some() {
            self.last_refusal.clone_from(&other.last_refusal);
        }
    }
}

/// Rows on their way to the files.
#[derive(Debug)]
pub(crate) enum Rows {
    Requests(Vec<RequestRow>),
    Sessions(Vec<SessionRow>),
}

pub(crate) struct Recorder {
    window: Window,
    /// Of a ramp.
    steps: Vec<Step>,
    names: Names,
    figures: Figures,
    /// `None` where nothing is written.
    writer: Option<SyncSender<Rows>>,
    requests: Vec<RequestRow>,
    sessions: Vec<SessionRow>,
    /// Whether arrivals are Poisson; `None` where they are not meant to be.
    pub(crate) poisson: Option<Gaps>,
}

/// The times between starts in the window.
pub(crate) struct Gaps {
    pub(crate) check: PoissonCheck,
    /// What is expected of a gap that ends at this time.
    expected: Box<dyn Fn(Time) -> Span>,
    before: Option<Time>,
}

impl Gaps {
    pub(crate) fn new(expected: impl Fn(Time) -> Span + 'static) -> Self {
        Self { check: PoissonCheck::new(), expected: Box::new(expected), before: None }
    }
}

impl Recorder {
    pub(crate) fn new(
        window: Window,
        steps: Vec<Step>,
        names: Names,
        writer: Option<SyncSender<Rows>>,
    ) -> Self {
        Self {
            window,
            steps,
            names,
            figures: Figures::default(),
            writer,
            requests: Vec::new(),
            sessions: Vec::new(),
            poisson: None,
        }
    }

    pub(crate) fn request(&mut self, finished: &Finished) {
        let figures = &mut self.figures;
        figures.ever_connected |= finished.is_connected();
        if !finished.is_connected() && finished.error == Some(RequestError::Timeout) {
            figures.last_refusal = Some("connecting took longer than the timeout".to_owned());
        }
        if finished.error.is_none() && self.window.contains(finished.ended()) {
            figures.responses_inside += 1;
        }
        let inside = self.window.contains(finished.intended);
        let tally = if inside { &mut figures.inside } else { &mut figures.outside };
        tally.request(finished);
        if !self.steps.is_empty() {
            figures.steps.request(&self.steps, finished);
        }
        if self.writer.is_some() {
            self.requests.push(finished.row(&self.names));
            if self.requests.len() >= ROWS {
                self.flush();
            }
        }
    }

    pub(crate) fn session(&mut self, class: usize, row: SessionRow) {
        let ended = row.started_ns + row.duration_ns + row.think_ns;
        if row.completed && self.window.contains(ended) {
            self.figures.sessions_inside += 1;
        }
        let inside = self.window.contains(row.started_ns);
        let tally = if inside { &mut self.figures.inside } else { &mut self.figures.outside };
        tally.session(class, &row);
        self.figures.steps.session(&self.steps, class, &row, ended);
        if self.writer.is_some() {
            self.sessions.push(row);
        }
    }

    /// Something that was wanted at `intended` began at `now`.
    pub(crate) fn began(&mut self, intended: Time, now: Time) {
        if self.window.contains(intended) {
            self.figures.lag.record(now.since(intended));
        }
    }

    /// An arrival that the schedule wanted at `intended` began at `now`. The pages that a session
    /// goes on to do not count as arrivals: their distances are those of pauses.
    pub(crate) fn arrived(&mut self, intended: Time, now: Time) {
        if self.window.contains(intended)
            && let Some(gaps) = &mut self.poisson
            && let Some(before) = gaps.before.replace(now)
        {
            gaps.check.record(now.since(before), (gaps.expected)(now));
        }
    }

    /// A client of a closed loop waits, from `now` on, because no connection has come about.
    pub(crate) fn waits_unconnected(&mut self, now: Time) {
        self.figures.waits += u64::from(self.window.contains(now));
    }

    /// A request that was wanted at `intended` found as much under way as there may be, and waits.
    pub(crate) fn queues(&mut self, intended: Time) {
        self.figures.queued += u64::from(self.window.contains(intended));
    }

    pub(crate) fn refused(&mut self, error: &io::Error) {
        self.figures.lacked.count(error);
        self.figures.last_refusal = Some(error.to_string());
    }

    /// Gives what was seen since the last time, for an empty one.
    pub(crate) fn swap_figures(&mut self, empty: &mut Figures) {
        std::mem::swap(&mut self.figures, empty);
    }

    /// Gives all rows to the writer.
    pub(crate) fn flush(&mut self) {
        let Some(writer) = &self.writer else { return };
        let requests = std::mem::replace(&mut self.requests, Vec::with_capacity(ROWS));
        let sessions = std::mem::take(&mut self.sessions);
        // When the writer has failed, the run is about to end and says why.
        if !requests.is_empty() {
            let _ = writer.send(Rows::Requests(requests));
        }
        if !sessions.is_empty() {
            let _ = writer.send(Rows::Sessions(sessions));
        }
    }
}
