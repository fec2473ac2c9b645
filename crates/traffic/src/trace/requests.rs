//! [`Trace`]: requests in the order of their times.

use std::collections::{BTreeMap, BTreeSet};

use units::{Rate, Span};

use super::line_format::LineFormat;
use super::request::{Object, TraceRequest};
use super::resolution::Resolution;
use super::skipped::Skipped;
use super::times::{self, Times};

/// Requests in the order of their times.
///
/// In memory a request takes 32 bytes, and each distinct URL its length and some 100 bytes
/// besides: a hundred million lines need 3 GB, and up to twice that while they are read.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    /// What is asked for, each only once, in the order of the file.
    pub objects: Vec<Object>,
    /// At least one.
    pub requests: Vec<TraceRequest>,
    /// How long the trace takes until it can begin anew: to the end of the last second where
    /// times are whole seconds, else one mean gap longer than to the last request. Zero when all
    /// requests came at once.
    pub duration: Span,
    /// How exact its times are.
    pub resolution: Resolution,
    /// What its lines were read as, and how many of each.
    pub formats: BTreeMap<LineFormat, u64>,
    /// What in the file is not in the trace.
    pub skipped: Skipped,
}

impl Trace {
    /// Requests per second over the whole trace; `None` when all came at once.
    pub fn rate(&self) -> Option<Rate> {
        times::rate(self.requests.len(), self.duration)
    }

    /// The hosts that are asked for, as far as the log says.
    pub fn hosts(&self) -> BTreeSet<&str> {
        self.objects.iter().filter_map(|object| object.host.as_deref()).collect()
    }

    /// The times alone, to be scaled, and repeated; the n-th belongs to the n-th request.
    pub fn times(&self) -> Times {
        Times::new(self.requests.iter().map(|request| request.at).collect(), self.duration)
    }
}
