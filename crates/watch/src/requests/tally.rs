//! [`Tally`]: requests summed up by class and phase.

use record::{Clock, PhaseName};
use stats::{Histogram, RatioSums};
use units::{Bytes, Span, Time};

use super::{Classes, Finished, Usage};
use crate::counts::Counted;

/// Durations of one phase by one clock.
#[derive(Debug, Clone)]
pub(crate) struct Durations {
    pub(crate) histogram: Histogram,
    /// In seconds squared.
    pub(crate) sum_of_squares: f64,
}

impl Durations {
    fn new() -> Self {
        Self { histogram: Histogram::coarse(), sum_of_squares: 0.0 }
    }

    fn record(&mut self, duration: Span) {
        self.histogram.record(duration);
        self.sum_of_squares += duration.as_secs_f64().powi(2);
    }

    fn add(&mut self, other: &Self) {
        self.histogram.add(&other.histogram);
        self.sum_of_squares += other.sum_of_squares;
    }
}

/// Sums over requests.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sums {
    pub(crate) requests: u64,
    /// That were the first of their connection.
    pub(crate) first: u64,
    pub(crate) bytes_sent: u64,
    pub(crate) used: Usage,
}

impl Sums {
    pub(crate) fn count(&mut self, request: &Finished) {
        self.requests += 1;
        self.first += u64::from(request.is_first);
        self.bytes_sent += request.bytes_sent;
        request.used.iter().for_each(|used| self.used += *used);
    }
}

/// What windows stand for.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Estimated {
    pub(crate) requests: f64,
    pub(crate) bytes: f64,
    /// Requests, and bytes, per second, window by window.
    pub(crate) by_window: [RatioSums; 2],
}

impl Estimated {
    /// A window that stands for so many seconds.
    fn of(requests: f64, bytes: f64, seconds: f64) -> Self {
        let mut estimated = Self { requests, bytes, ..Self::default() };
        for (sums, all) in estimated.by_window.iter_mut().zip([requests, bytes]) {
            sums.add(all, seconds);
        }
        estimated
    }

    fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.bytes += other.bytes;
        for (mine, theirs) in self.by_window.iter_mut().zip(&other.by_window) {
            mine.add_all(theirs);
        }
    }
}

/// Requests of one class.
#[derive(Debug, Clone)]
pub(crate) struct OfClass {
    pub(crate) sums: Sums,
    /// In all of the time that windows stand for.
    pub(crate) estimated: Estimated,
    /// In that part of it in which requests were not counted.
    pub(crate) uncounted: Estimated,
    /// From when it could be read to the last of its response.
    pub(crate) duration: Histogram,
    /// Its sum in seconds, and how many there were, window by window.
    pub(crate) duration_by_window: RatioSums,
    /// By phase and clock.
    phases: [[Durations; 2]; 3],
}

impl OfClass {
    fn new() -> Self {
        Self {
            sums: Sums::default(),
            estimated: Estimated::default(),
            uncounted: Estimated::default(),
            duration: Histogram::coarse(),
            duration_by_window: RatioSums::default(),
            phases: std::array::from_fn(|_| std::array::from_fn(|_| Durations::new())),
        }
    }

    pub(crate) fn durations(&self, phase: PhaseName, clock: Clock) -> &Durations {
        &self.phases[phase as usize][clock as usize]
    }

    fn count(&mut self, request: &Finished) {
        self.sums.count(request);
        if let Some(sent) = request.sent.filter(|_| request.is_arrival_seen) {
            self.duration.record(sent.since(request.began));
        }
        for (phase, used) in PhaseName::ALL.into_iter().zip(&request.used) {
            let clocks = &mut self.phases[phase as usize];
            clocks[Clock::Cpu as usize].record(used.cpu());
            if phase != PhaseName::Parse || request.is_arrival_seen {
                clocks[Clock::Elapsed as usize].record(request.elapsed(phase));
            }
        }
    }

    fn add(&mut self, other: &Self) {
        self.sums.requests += other.sums.requests;
        self.sums.first += other.sums.first;
        self.sums.bytes_sent += other.sums.bytes_sent;
        self.sums.used += other.sums.used;
        self.estimated.add(&other.estimated);
        self.uncounted.add(&other.uncounted);
        self.duration.add(&other.duration);
        self.duration_by_window.add_all(&other.duration_by_window);
        for (mine, theirs) in self.phases.iter_mut().flatten().zip(other.phases.iter().flatten()) {
            mine.add(theirs);
        }
    }
}

/// With so much of the time watched, it is all of it.
pub(crate) const ALL: f64 = 0.999;

/// Requests by class, and what belongs to no class.
#[derive(Debug, Clone)]
pub struct Tally {
    pub(crate) classes: Vec<OfClass>,
    /// How long requests were followed from their beginning.
    pub(crate) watched: Span,
    /// Since when, for what is open.
    pub(crate) watched_from: Time,
    /// How long the time is that they stand for: windows for the time between them as well.
    pub(crate) stood_for: Span,
    /// Of that, when requests were not counted.
    pub(crate) uncounted_for: Span,
    /// And of late neither was anything counted nor does a window stand for it yet.
    pub(crate) unseen_for: Span,
    /// What windows show is not all that there is.
    pub(crate) is_beyond_windows: bool,
    /// Windows see none of them: they came to unix sockets.
    pub(crate) has_no_windows: bool,
    pub(crate) estimated_connections: f64,
    /// From when a connection was established to when it was accepted.
    pub(crate) accept_wait: Histogram,
    /// From when a request could have been read to when it was.
    pub(crate) read_wait: Histogram,
    pub(crate) connections: u64,
    pub(crate) counts: Counts,
    /// Every request, whether it was followed or not, and of how long a time; none where the kernel does not count.
    pub(crate) counted: Option<(Counted, Span)>,
}

/// Requests that are not among those of the classes, or not as they should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct Counts {
    /// Begun, and not ended when no more could be waited for.
    pub unfinished: u64,
    /// Ended without a response.
    pub unanswered: u64,
    /// Connections that ended before the server had parsed anything, and bytes that it could not parse.
    pub unparsed: u64,
    /// Known to the kernel's half only, since this one did not keep up.
    pub lost: u64,
    /// Connections that were more than can be followed at once.
    pub crowded: u64,
}

impl Tally {
    pub(crate) fn new(classes: usize) -> Self {
        Self {
            classes: (0..classes).map(|_| OfClass::new()).collect(),
            watched: Span::ZERO,
            watched_from: Time::NEVER,
            stood_for: Span::ZERO,
            uncounted_for: Span::ZERO,
            unseen_for: Span::ZERO,
            is_beyond_windows: false,
            has_no_windows: false,
            estimated_connections: 0.0,
            accept_wait: Histogram::coarse(),
            read_wait: Histogram::coarse(),
            connections: 0,
            counts: Counts::default(),
            counted: None,
        }
    }

    pub(crate) fn count(&mut self, request: &Finished, classes: &Classes) {
        if request.is_first {
            self.connections += 1;
            if let Some((established, accepted)) = request.established.zip(request.accepted) {
                self.accept_wait.record(accepted.since(established));
            }
        }
        if request.is_arrival_seen {
            self.read_wait.record(request.read.since(request.began));
        }
        match (request.parsed, request.sent) {
            (None, _) => self.counts.unparsed += 1,
            (Some(_), None) => self.counts.unanswered += 1,
            (Some(_), Some(_)) => self.classes[classes.of(Bytes(request.bytes_sent))].count(request),
        }
    }

    /// Those that were followed.
    pub(crate) fn requests(&self) -> u64 {
        self.classes.iter().map(|class| class.sums.requests).sum()
    }

    /// Requests were followed from their beginning until then.
    pub(crate) fn watch_to(&mut self, to: Time) {
        self.watched += to.since(self.watched_from);
        self.watched_from = Time::NEVER;
    }

    /// Whether all requests were followed, and not those of windows alone.
    pub(crate) fn is_of_all(&self) -> bool {
        self.watched.as_secs_f64() > ALL * self.stood_for.as_secs_f64()
    }

    /// What has been watched so far stands for so long a time, in which requests were counted besides, as far as they can
    /// be, but for so much of it. By how much that is more.
    pub(crate) fn stand_for(&mut self, time: Span, uncounted: Span) -> f64 {
        let watched = self.watched.as_secs_f64().max(1e-9);
        let (seconds, uncounted_seconds) = (time.as_secs_f64(), uncounted.as_secs_f64());
        let weight = seconds / watched;
        self.stood_for = time;
        self.uncounted_for = uncounted;
        self.estimated_connections = self.connections as f64 * weight;
        for class in &mut self.classes {
            let (requests, bytes) = (class.sums.requests as f64, class.sums.bytes_sent as f64);
            let estimate = |seconds: f64| {
                Estimated::of(requests * seconds / watched, bytes * seconds / watched, seconds)
            };
            class.estimated = estimate(seconds);
            class.uncounted =
                if uncounted > Span::ZERO { estimate(uncounted_seconds) } else { Estimated::default() };
            let (sum, count) = (class.duration.sum().as_secs_f64(), class.duration.count() as f64);
            class.duration_by_window.add(sum, count);
        }
        weight
    }

    pub(crate) fn add(&mut self, other: &Self) {
        for (mine, theirs) in self.classes.iter_mut().zip(&other.classes) {
            mine.add(theirs);
        }
        self.watched += other.watched;
        self.stood_for += other.stood_for;
        self.uncounted_for += other.uncounted_for;
        self.unseen_for += other.unseen_for;
        self.is_beyond_windows |= other.is_beyond_windows;
        self.has_no_windows |= other.has_no_windows;
        self.estimated_connections += other.estimated_connections;
        self.accept_wait.add(&other.accept_wait);
        self.read_wait.add(&other.read_wait);
        self.connections += other.connections;
        self.counts.unfinished += other.counts.unfinished;
        self.counts.unanswered += other.counts.unanswered;
        self.counts.unparsed += other.counts.unparsed;
        self.counts.lost += other.counts.lost;
        self.counts.crowded += other.counts.crowded;
        if let Some((theirs, time)) = &other.counted {
            let (mine, all) = self.counted.get_or_insert_default();
            mine.add(theirs);
            *all += *time;
        }
    }
}
