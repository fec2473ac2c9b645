//! [`Observation`]: requests, wherever they were seen.

use serde::Serialize;
use units::Span;

/// Where requests were seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// An access log.
    Log,
    /// A run of the load generator.
    Run,
    /// A watch of the server.
    Watch,
}

/// Requests as they were observed, in the order in which they came.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    /// The file or directory.
    pub(crate) source: String,
    pub(crate) origin: Origin,
    /// At least two, at different times.
    pub(crate) requests: Vec<Request>,
    /// How exact their times are, in seconds.
    pub(crate) resolution: f64,
    /// Lines that could not be read, and some of them with the reason.
    pub(crate) skipped: u64,
    pub(crate) unread: Vec<String>,
    /// When it began, since 1970.
    pub(crate) zero: Option<Span>,
    /// When it ended, in seconds after it began.
    pub(crate) ended: f64,
    /// Times in which the rate was set to be constant.
    pub(crate) steps: Vec<(f64, f64)>,
    /// Clients that wait for their answers, and how long each thinks.
    pub(crate) clients: Option<(u32, f64)>,
    pub(crate) remarks: Vec<String>,
}

/// One of them.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Request {
    /// When it came, in seconds from the beginning.
    pub(crate) at: f64,
    pub(crate) dynamic: bool,
    pub(crate) status: Option<u16>,
    /// Of the response.
    pub(crate) bytes: Option<u64>,
    /// How long the server had it, in seconds.
    pub(crate) took: Option<f64>,
    /// When that began, in seconds from the beginning, where it is known to the same precision.
    pub(crate) began: Option<f64>,
}

/// Why nothing can be said.
#[derive(Debug, thiserror::Error)]
pub enum ObservationError {
    /// The log cannot be read.
    #[error(transparent)]
    Log(#[from] traffic::trace::Error),
    /// The run cannot be read.
    #[error(transparent)]
    Run(#[from] record::Error),
    /// There are too few requests.
    #[error("{source_name}: {requests} requests are too few to say anything of; it takes {least}")]
    TooFew {
        /// The file or directory.
        source_name: String,
        /// How many there are.
        requests: usize,
        /// How many there ought to be.
        least: usize,
    },
    /// There are not so many windows.
    #[error("{source_name}: there is no window {number}; it has {windows}")]
    NoWindow {
        /// The file or directory.
        source_name: String,
        /// Which was asked for.
        number: usize,
        /// How many there are.
        windows: usize,
    },
    /// All came at the same time.
    #[error("{0}: all requests are of the same moment, so that they have no rate")]
    NoTime(String),
}

/// Below this nothing is said.
const MIN_REQUESTS: usize = 100;

impl Observation {
    /// From the beginning to the end, in seconds.
    pub(crate) fn duration(&self) -> f64 {
        self.ended
    }

    /// What came from a time until before another, with times from there.
    pub(crate) fn part(&self, from: f64, to: f64) -> Self {
        let first = self.requests.partition_point(|request| request.at < from);
        let last = self.requests.partition_point(|request| request.at < to);
        let moved = |request: &Request| Request {
            at: request.at - from,
            began: request.began.map(|began| began - from),
            ..*request
        };
        Self {
            requests: self.requests[first..last].iter().map(moved).collect(),
            ended: to - from,
            steps: Vec::new(),
            remarks: Vec::new(),
            unread: Vec::new(),
            source: self.source.clone(),
            ..*self
        }
    }

    /// Puts requests in order and looks whether anything can be said of them.
    pub(crate) fn checked(mut self) -> Result<Self, ObservationError> {
        if self.requests.len() < MIN_REQUESTS {
            return Err(ObservationError::TooFew {
                source_name: self.source,
                requests: self.requests.len(),
                least: MIN_REQUESTS,
            });
        }
        self.requests.sort_by(|one, other| one.at.total_cmp(&other.at));
        let last = self.requests.last().map_or(0.0, |request| request.at);
        self.ended = self.ended.max(last + if self.resolution >= 1.0 { self.resolution } else { 0.0 });
        if last > 0.0 { Ok(self) } else { Err(ObservationError::NoTime(self.source)) }
    }
}

impl Request {
    /// Whether the server had no room for it.
    pub(crate) fn is_rejected(&self) -> bool {
        matches!(self.status, Some(429 | 503))
    }

    /// Whether the server did all its work for it.
    pub(crate) fn is_served(&self) -> bool {
        self.status.is_some() && !self.is_rejected()
    }
}
