//! [`PlanArgs`]: how long, how often and how precisely to simulate.

use std::num::NonZeroUsize;

use anyhow::anyhow;
use sim::Plan;

use crate::exit::{Failure, usage};
use crate::values::count;

const STATISTICS: &str = "Statistics";

#[derive(Debug, clap::Args)]
pub(super) struct PlanArgs {
    /// Replications at most.
    #[arg(long, value_name = "N", help_heading = STATISTICS, default_value = "400", value_parser = count::<u32>(2..=1_000_000))]
    replications: u32,
    /// Stop when the 95 % intervals of rejection, mean latency and its 90th percentile are no wider than this share of them, to either side; 0 for all replications.
    #[arg(long, value_name = "X", help_heading = STATISTICS, default_value_t = 0.01)]
    precision: f64,
    /// And not before so many requests have been rejected, for what is rare: 100 are known to about a fifth.
    #[arg(long, value_name = "N", help_heading = STATISTICS, value_parser = count::<u64>(1..=1_000_000_000))]
    rejections: Option<u64>,
    /// Requests in a replication, warm-up not included.
    #[arg(long, value_name = "N", help_heading = STATISTICS, default_value = "200k", value_parser = count::<u64>(100..=100_000_000_000))]
    requests: u64,
    /// Requests at the beginning of each that are not counted (default: found by MSER-5 in a pilot run).
    #[arg(long, value_name = "N", help_heading = STATISTICS, value_parser = count::<u64>(0..=100_000_000_000))]
    warmup: Option<u64>,
    /// One run as long as all replications together instead of them; intervals come from overlapping batch means.
    #[arg(long, help_heading = STATISTICS)]
    long_run: bool,
    /// Where random numbers begin.
    #[arg(long, value_name = "N", help_heading = STATISTICS, default_value_t = 1)]
    seed: u64,
    /// Processors to simulate on (default: all); the outcome does not depend on it.
    #[arg(long, value_name = "N", help_heading = STATISTICS, value_parser = count::<NonZeroUsize>(1..=10_000))]
    cores: Option<NonZeroUsize>,
}

impl PlanArgs {
    pub(super) fn plan(&self) -> Result<Plan, Failure> {
        if !(0.0..1.0).contains(&self.precision) {
            return Err(Failure::Usage(anyhow!(
                "--precision must be a share from 0 to 1, such as 0.01, not {}",
                self.precision
            )));
        }
        if let Some(warmup) = self.warmup.filter(|warmup| *warmup > self.requests) {
            return Err(usage(&format!(
                "--warmup {warmup} is longer than what counts, --requests {}; a replication has at least ten times as many \
                 requests as are not counted, so give more --requests or less --warmup",
                self.requests
            )));
        }
        Ok(Plan {
            seed: self.seed,
            requests: self.requests,
            warmup: self.warmup,
            replications: self.replications,
            precision: (self.precision > 0.0).then_some(self.precision),
            rejections: self.rejections,
            long_run: self.long_run,
            cores: self.cores,
        })
    }
}
