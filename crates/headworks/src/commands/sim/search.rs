//! [`SearchArgs`]: how much is simulated of each setting that a search tries.

use std::num::NonZeroUsize;

use sim::Plan;
use sim::advise::AdviceOptions;

use crate::values::count;

pub(super) const SEARCH: &str = "Search";

#[derive(Debug, clap::Args)]
pub(super) struct SearchArgs {
    /// Replications of each simulation.
    #[arg(long, value_name = "N", help_heading = SEARCH, default_value = "16", value_parser = count::<u32>(2..=1_000_000))]
    replications: u32,
    /// Requests in a replication, warm-up not included.
    #[arg(long, value_name = "N", help_heading = SEARCH, default_value = "50k", value_parser = count::<u64>(100..=100_000_000_000))]
    requests: u64,
    /// Where random numbers begin.
    #[arg(long, value_name = "N", help_heading = SEARCH, default_value_t = 1)]
    seed: u64,
    /// Processors to simulate on (default: all); the outcome does not depend on it.
    #[arg(long, value_name = "N", help_heading = SEARCH, value_parser = count::<NonZeroUsize>(1..=10_000))]
    cores: Option<NonZeroUsize>,
}

impl SearchArgs {
    pub(super) fn plan(&self) -> Plan {
        Plan {
            requests: self.requests,
            replications: self.replications,
            seed: self.seed,
            cores: self.cores,
            ..AdviceOptions::default().plan
        }
    }
}
