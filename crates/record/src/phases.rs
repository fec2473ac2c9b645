//! `phases.parquet`: what requests of a class spent in each phase, interval by interval.

use std::sync::Arc;

use units::{Span, Time};

use crate::table::{named_cell, table};

table! {
    /// The requests of one class that ended in one interval, in one phase and by one clock.
    #[derive(Debug, Clone, PartialEq)]
    pub struct PhaseRow {
        /// The end of the interval, from the start of the run.
        pub time: Time,
        /// The class, by the size of the response.
        pub class: Arc<str>,
        /// The phase.
        pub phase: PhaseName,
        /// What the durations are of.
        pub clock: Clock,
        /// Requests.
        pub count: u64,
        /// The sum of their durations.
        pub sum_ns: Span,
        /// The sum of the squares of their durations in seconds.
        pub sum_of_squares: f64,
        /// `[[upper end in ns, requests], ...]` as JSON: intervals that are at most 1 % wide, empty ones left
        /// out.
        pub histogram: Arc<str>,
    }
}

/// A phase of a request in the server (Webmonitor, section 4.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PhaseName {
    /// Until the header has been parsed.
    Parse,
    /// Until the last byte has been handed to the kernel.
    Process,
    /// Until the server is ready for something else.
    Log,
}

impl PhaseName {
    /// All of them, in their order.
    pub const ALL: [Self; 3] = [Self::Parse, Self::Process, Self::Log];

    /// Its name in files and summaries.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Parse => "parse",
            Self::Process => "process",
            Self::Log => "log",
        }
    }
}

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Clock {
    /// Processor time.
    Cpu,
    /// Time that passes.
    Elapsed,
}

impl Clock {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Cpu, Self::Elapsed];

    /// Its name in files and summaries.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Elapsed => "elapsed",
        }
    }
}

named_cell!(PhaseName);
named_cell!(Clock);
