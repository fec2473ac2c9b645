//! Requests of an access log.

use std::path::Path;

use traffic::trace::{AccessLog, LastNumber, Logged, Resolution};

use super::dynamic::is_dynamic;
use super::observation::{Observation, ObservationError, Origin, Request};

/// What the number at the end of each line of a log says about how long requests took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TimeTaken {
    /// Seconds where it has three decimals, as nginx writes its `$request_time`; otherwise nothing.
    #[default]
    Auto,
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Millis,
    /// Microseconds: Apache's `%D`.
    Micros,
}

/// A number of seconds above this is a date.
const LONGEST: f64 = 1e6;

impl TimeTaken {
    fn seconds(self, number: LastNumber) -> Option<f64> {
        let seconds = match self {
            Self::Auto if number.decimals != 3 => return None,
            Self::Auto | Self::Seconds => number.value,
            Self::Millis => number.value / 1e3,
            Self::Micros => number.value / 1e6,
        };
        (seconds < LONGEST).then_some(seconds)
    }
}

impl Observation {
    /// Reads an access log, whatever the methods of its requests; `taken` is what its lines end in.
    ///
    /// # Errors
    /// When it cannot be read, or has too few requests to say anything of.
    pub fn of_log(path: &Path, taken: TimeTaken) -> Result<Self, ObservationError> {
        let mut requests = Vec::new();
        let mut coarsest = Resolution::Micros;
        let mut other_methods = 0_u64;
        // Seconds since 1970 with a fraction would lose some of it.
        let mut origin = None;
        let skipped = AccessLog::each(path, |Logged { at, resolution, url, status, bytes, last }| {
            coarsest = coarsest.min(resolution);
            other_methods += u64::from(url.is_none());
            let origin = *origin.get_or_insert(at.as_nanos());
            requests.push(Request {
                at: at.as_nanos().cast_signed().wrapping_sub(origin.cast_signed()) as f64 / 1e9,
                dynamic: url.as_deref().is_none_or(is_dynamic),
                status,
                bytes,
                took: last.and_then(|number| taken.seconds(number)),
                began: None,
            });
        })?;
        let first = requests.iter().map(|request| request.at).fold(f64::INFINITY, f64::min);
        let resolution = match coarsest {
            Resolution::Seconds => 1.0,
            Resolution::Millis => 1e-3,
            Resolution::Micros => 1e-6,
        };
        // Whole seconds stay whole.
        let first = if resolution >= 1.0 { first.floor() } else { first };
        requests.iter_mut().for_each(|request| request.at -= first);
        let mut remarks = Vec::new();
        if other_methods > 0 {
            remarks.push(format!("{other_methods} requests are neither GET nor HEAD and count as dynamic."));
        }
        if resolution >= 1.0 {
            remarks.push("Its times are whole seconds: the coefficient of variation comes from counts of requests, not from the times between them.".to_owned());
        }
        Self {
            source: path.display().to_string(),
            origin: Origin::Log,
            requests,
            resolution,
            skipped: skipped.broken(),
            ended: 0.0,
            steps: Vec::new(),
            clients: None,
            remarks,
        }
        .checked()
    }
}
