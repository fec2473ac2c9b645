//! [`Traced`]: where arrivals that were observed are read from.

use std::path::{Path, PathBuf};

use traffic::trace::{AccessLog, Skipped, Times};

use super::arrivals::Arrivals;
use super::observed::{NoGaps, Observed, REQUESTS, TIMES};
use crate::dynamic::kind;

/// Arrivals of a trace.
#[derive(Debug, Clone, PartialEq)]
pub struct Traced {
    /// How they are spread over time.
    pub arrivals: Arrivals,
    /// How many there were per second.
    pub rate: f64,
    /// Lines of the file that are not arrivals.
    pub skipped: Skipped,
}

/// Why a file makes no arrivals.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// It cannot be read.
    #[error(transparent)]
    Read(#[from] traffic::trace::Error),
    /// Its times make no arrivals.
    #[error("{path}: {why}")]
    Times {
        /// The file.
        path: String,
        /// Why.
        why: NoGaps,
    },
}

impl Traced {
    /// Reads what `text` names, if it names a file: `trace:FILE`, times alone, in a file with a time on each line or of an
    /// access log; or `log:FILE`, an access log of which each request stays static or dynamic, as its URL shows. The file
    /// is looked for in `directory`.
    ///
    /// # Errors
    /// When it cannot be read, or has no two different times.
    pub fn named(text: &str, directory: &Path) -> Option<Result<Self, TraceError>> {
        // Several files, with commas between them, are one after the other.
        let beside = |files: &str| {
            let files: Vec<String> =
                files.split(',').map(|file| directory.join(file).display().to_string()).collect();
            PathBuf::from(files.join(","))
        };
        if let Some(files) = text.strip_prefix(REQUESTS) {
            return Some(Self::read_log(&beside(files)));
        }
        text.strip_prefix(TIMES).map(|files| Self::read(&beside(files)))
    }

    fn read(path: &Path) -> Result<Self, TraceError> {
        let (times, skipped) = Times::read(path)?;
        Self::of(path, &times, skipped, |observed| observed)
    }

    fn read_log(path: &Path) -> Result<Self, TraceError> {
        let (times, dynamic, skipped) = AccessLog::default().times_and(path, kind)?;
        Self::of(path, &times, skipped, |observed| observed.of_kinds(&dynamic))
    }

    fn of(
        path: &Path,
        times: &Times,
        skipped: Skipped,
        known: impl FnOnce(Observed) -> Observed,
    ) -> Result<Self, TraceError> {
        let seconds: Vec<f64> =
            times.arrivals().take(times.len()).map(|time| time.as_nanos() as f64 / 1e9).collect();
        let wrong = |why| TraceError::Times { path: path.display().to_string(), why };
        let observed = known(Observed::new(&seconds).map_err(wrong)?);
        let length = seconds.last().copied().unwrap_or_default();
        let rate = (seconds.len() - 1) as f64 / length;
        Ok(Self { arrivals: Arrivals::Observed(observed), rate, skipped })
    }
}
