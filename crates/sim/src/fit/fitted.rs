//! [`Fit`]: what was observed, in figures.

use std::collections::BTreeMap;

use serde::Serialize;
use units::Span;

use super::arrivals::FittedArrivals;
use super::check::Check;
use super::classes::FittedClass;
use super::demands::Source as DemandSource;
use super::observation::Origin;
use super::windows::Window;

/// What was observed, in figures. Times in seconds, rates per second, sizes in bytes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fit {
    /// The file or directory.
    pub source: String,
    /// What it is.
    pub origin: Origin,
    /// How many requests there are.
    pub requests: u64,
    /// How many lines of a log could not be read.
    pub skipped: u64,
    /// Some of these, with the reasons.
    pub unread: Vec<String>,
    /// From the first request to the last.
    pub duration: f64,
    /// How exact points in time are.
    pub resolution: f64,
    /// Requests per second in the windows that were chosen.
    pub rate: f64,
    /// Windows, one after the other.
    pub windows: Vec<Window>,
    /// How requests are spread over time; `None` when no window has a constant rate, and where
    /// clients wait for their answers.
    pub arrivals: Option<FittedArrivals>,
    /// Clients, and how long each thinks on average, where they wait for their answers.
    pub clients: Option<(u32, f64)>,
    /// Kinds of requests.
    pub classes: Vec<FittedClass>,
    /// From what their costs are known, where they are not stated; `None` when they are not.
    pub demands: Option<DemandSource>,
    /// How much longer each request takes by the clock that was read, in seconds, without a processor; `None` where that is
    /// not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<f64>,
    /// The model with the arrivals that were observed, beside what was observed; `None` when costs are not known
    /// from how long requests took.
    pub check: Option<Check>,
    /// The share of the processors' time that they make up; `None` when costs are not known.
    pub utilization: Option<f64>,
    /// The share of requests that were answered by 429 or 503.
    pub rejected: f64,
    /// How many of each status.
    pub status: BTreeMap<u16, u64>,
    /// The server's processors and threads, as they were stated.
    pub processors: u32,
    /// See [`FitOptions::threads`](super::options::FitOptions::threads).
    pub threads: Option<u32>,
    /// Whether that was stated, and not found.
    #[serde(skip)]
    pub(crate) is_threads_stated: bool,
    /// What cannot be known, and what ought to be known about what is said here; sentences.
    pub remarks: Vec<String>,
}

impl Fit {
    /// Requests per second in each window, and for how long. One without requests has as if there were one, since there
    /// is nothing to plan for none.
    pub fn rates(&self) -> Vec<(f64, Span)> {
        let rate = |window: &Window| if window.requests > 0 { window.rate } else { window.length().recip() };
        self.windows.iter().map(|window| (rate(window), Span::from_secs_f64(window.length()))).collect()
    }
}
