//! `headworks sim advise`: what to admit.

use std::num::NonZeroUsize;

use sim::Plan;
use sim::advise::{AdviceOptions, Objective, advise};

use super::View;
use super::args::OUTPUT;
use super::fit::FromArgs;
use super::model::ModelArgs;
use super::show;
use crate::commands::values::count;
use crate::exit::{Exit, Failure};

const SEARCH: &str = "Search";

const EXAMPLES: &str = "\
Examples:
  headworks sim advise --from access.log --objective 'p90<1s'
  headworks sim advise --model model.toml --objective 'p99<3s' --objective 'rejected<1%' --try-threads 25";

/// Finds the load to admit, the length of the queue and the number of threads with which a server meets its objectives.
///
/// It simulates each setting at growing loads, with the same requests for all, and takes an objective for met when the whole of its 95 % interval is. Without one about rejection, at most 5 % may be rejected. The exit code is 3 when nothing meets them.
#[derive(Debug, clap::Args)]
#[command(after_long_help = format!("{EXAMPLES}\n\n{}", crate::EXIT_CODES))]
pub(super) struct AdviseArgs {
    /// What is to be achieved (repeatable): mean, p50, p90 or p99 of the latency, or rejected, and an upper bound, such as p90<1s or rejected<5%.
    #[arg(long, value_name = "BOUND", required = true)]
    objective: Vec<Objective>,
    #[command(flatten)]
    from: FromArgs,
    #[command(flatten)]
    model: ModelArgs,
    /// Numbers of threads to try (default: the model's, 5, 10, 25, 50 and 100).
    #[arg(long, value_name = "N,..", help_heading = SEARCH, value_delimiter = ',', value_parser = count::<u32>(1..=1_000_000))]
    try_threads: Vec<u32>,
    /// Lengths of the queue to try (default: the model's, 0, 10, 25, 50, 100, 250 and 1000).
    #[arg(long, value_name = "N,..", help_heading = SEARCH, value_delimiter = ',', value_parser = count::<u32>(0..=1_000_000_000))]
    try_queues: Vec<u32>,
    /// Replications of each simulation.
    #[arg(long, value_name = "N", help_heading = SEARCH, default_value = "16", value_parser = count::<u32>(2..=1_000_000))]
    replications: u32,
    /// Requests in a replication, warm-up not included.
    #[arg(long, value_name = "N", help_heading = SEARCH, default_value = "50k", value_parser = count::<u64>(100..=100_000_000_000))]
    requests: u64,
    /// Where random numbers begin.
    #[arg(long, value_name = "N", help_heading = SEARCH, default_value_t = 1)]
    seed: u64,
    /// Processors to simulate on (default: all); the outcome is the same.
    #[arg(long, value_name = "N", help_heading = SEARCH, value_parser = count::<NonZeroUsize>(1..=10_000))]
    cores: Option<NonZeroUsize>,
    /// Print one JSON object.
    #[arg(long, help_heading = OUTPUT)]
    json: bool,
    /// Show no progress.
    #[arg(long, short, help_heading = OUTPUT)]
    quiet: bool,
}

impl AdviseArgs {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        let options = AdviceOptions {
            threads: self.try_threads,
            queues: self.try_queues,
            plan: Plan {
                requests: self.requests,
                replications: self.replications,
                seed: self.seed,
                cores: self.cores,
                ..AdviceOptions::default().plan
            },
        };
        let model = self.from.model(self.model)?;
        let view = View::new("settings", self.quiet);
        let tell = |tried: usize, all: usize| view.tell(tried, all);
        let advice = advise(&model, &self.objective, &options, &tell);
        view.end();
        let advice = advice.map_err(|why| Failure::Usage(why.into()))?;
        show(&advice, self.json)?;
        Ok(if advice.best.is_some() { Exit::Ok } else { Exit::ObjectiveMissed })
    }
}
