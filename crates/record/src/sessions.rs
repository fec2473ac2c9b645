//! `sessions.parquet`: one row per session.

use std::sync::Arc;

use units::{Span, Time};

use crate::table::{named_cell, table};

table! {
    /// A user's visit: pages with their embedded objects, and the pauses between them.
    #[derive(Debug, Clone, PartialEq)]
    pub struct SessionRow {
        /// Its number, in the order in which sessions started.
        pub session: u64,
        /// The class of the user.
        pub class: Arc<str>,
        /// When the schedule wanted it to start, from the start of the run.
        pub started_ns: Time,
        /// What the user waited: the time from start to end in which a request was outstanding.
        pub duration_ns: Span,
        /// The pauses that the user made.
        pub think_ns: Span,
        /// Requests sent.
        pub requests: u32,
        /// Whether every request got its response.
        pub completed: bool,
        /// How it ended.
        pub outcome: SessionOutcome,
    }
}

/// How a session ended. All but `Completed` end it at the first request that fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SessionOutcome {
    /// Every request got its response.
    Completed,
    /// A request took longer than is allowed.
    Timeout,
    /// The server refused a request with status 503.
    Refused,
    /// A request failed otherwise, or got another status of 400 or more.
    Error,
    /// It was still running when the run ended.
    Censored,
}

impl SessionOutcome {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Completed, Self::Timeout, Self::Refused, Self::Error, Self::Censored];

    /// Its name in files and summaries.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Timeout => "timeout",
            Self::Refused => "refused",
            Self::Error => "error",
            Self::Censored => "censored",
        }
    }
}

named_cell!(SessionOutcome);
