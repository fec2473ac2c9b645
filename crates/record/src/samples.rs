//! `samples.parquet`: quantities that were looked at now and then.

use std::sync::Arc;

use units::Time;

use crate::table::{named_cell, table};

table! {
    /// One value of one metric at one instant.
    #[derive(Debug, Clone, PartialEq)]
    pub struct SampleRow {
        /// From the start of the run.
        pub time: Time,
        /// The host it was seen on.
        pub host: Arc<str>,
        /// Whose view it is.
        pub viewpoint: Viewpoint,
        /// What it is, with its unit at the end where it has one.
        pub metric: Arc<str>,
        /// Which of several, such as a class or an interface; empty when there is one.
        pub label: Arc<str>,
        /// The value.
        pub value: f64,
    }
}

/// Who saw a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Viewpoint {
    /// The load generator.
    Client,
    /// The server under test.
    Server,
    /// An interface between them.
    Network,
    /// The gate.
    Gate,
}

impl Viewpoint {
    const ALL: [Self; 4] = [Self::Client, Self::Server, Self::Network, Self::Gate];

    /// Its name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
            Self::Network => "network",
            Self::Gate => "gate",
        }
    }
}

named_cell!(Viewpoint);
