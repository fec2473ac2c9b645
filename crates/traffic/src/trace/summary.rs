//! [`Summary`]: what a trace amounts to.

use std::collections::{BTreeMap, HashSet};
use std::fmt;

use stats::Deviations;
use units::{Rate, Span};

use super::line_format::LineFormat;
use super::request::{Method, TraceRequest};
use super::requests::Trace;
use super::resolution::Resolution;

/// What a trace amounts to.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// How many requests.
    pub requests: usize,
    /// From the first to the last.
    pub span: Span,
    /// Requests per second; `None` when all came at once. A [`Process`](crate::Process) at this
    /// rate is what replaces the times of a trace where they are to be fitted.
    pub rate: Option<Rate>,
    /// The coefficient of variation of the times between one request and the next. `None` below
    /// three requests, and where times are whole seconds, from which it cannot be told.
    pub cv: Option<f64>,
    /// How exact times are.
    pub resolution: Resolution,
    /// How many URLs differ.
    pub urls: usize,
    /// How many hosts differ.
    pub hosts: usize,
    /// What lines were read as.
    pub formats: BTreeMap<LineFormat, u64>,
    /// How many requests of each method.
    pub methods: BTreeMap<Method, u64>,
    /// How many of each status; those without are left out.
    pub statuses: BTreeMap<u16, u64>,
}

impl Trace {
    /// What it amounts to.
    pub fn summary(&self) -> Summary {
        let mut methods = BTreeMap::new();
        let mut statuses = BTreeMap::new();
        for request in &self.requests {
            if let Some(object) = self.objects.get(request.object as usize) {
                *methods.entry(object.method).or_default() += 1;
            }
            if let Some(status) = request.status {
                *statuses.entry(status).or_default() += 1;
            }
        }
        Summary {
            requests: self.requests.len(),
            span: self.requests.last().map_or(Span::ZERO, |last| last.at),
            rate: self.rate(),
            cv: if self.resolution == Resolution::Seconds { None } else { self.cv_of_gaps() },
            resolution: self.resolution,
            urls: self.objects.iter().map(|object| &object.url).collect::<HashSet<_>>().len(),
            hosts: self.hosts().len(),
            formats: self.formats.clone(),
            methods,
            statuses,
        }
    }

    fn cv_of_gaps(&self) -> Option<f64> {
        let span = self.requests.last().map(|last| last.at.as_secs_f64()).filter(|span| *span > 0.0)?;
        let gaps = self.requests.len().checked_sub(1).filter(|gaps| *gaps >= 2)? as f64;
        let mean = span / gaps;
        let gap = |pair: &[TraceRequest]| pair[1].at.saturating_sub(pair[0].at).as_secs_f64();
        Some(Deviations::around(mean, self.requests.windows(2).map(gap)).cv())
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} requests for {} URLs", self.requests, self.urls)?;
        match self.hosts {
            0 => {}
            1 => f.write_str(" of 1 host")?,
            hosts => write!(f, " of {hosts} hosts")?,
        }
        write!(f, " in {:.3}", self.span)?;
        if let Some(rate) = self.rate {
            write!(f, ", {rate}")?;
        }
        if let Some(cv) = self.cv {
            write!(f, ", c_v of gaps {cv:.2}")?;
        }
        write!(f, ", times in {}, read as ", self.resolution)?;
        let counted = |(format, count): (&LineFormat, &u64)| match self.formats.len() {
            1 => format.to_string(),
            _ => format!("{format} ({count})"),
        };
        f.write_str(&self.formats.iter().map(counted).collect::<Vec<_>>().join(", "))
    }
}
