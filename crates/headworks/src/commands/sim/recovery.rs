//! `headworks sim recovery`: whether a server comes back from a surge.

use std::num::NonZeroUsize;

use sim::Plan;
use sim::recovery::{RecoveryQuestion, SurgeLoad, map_recovery};
use units::Span;

use super::fit::FromArgs;
use super::model::ModelArgs;
use super::search::SEARCH;
use super::wait::Wait;
use crate::exit::{EXIT_CODES, Exit, Failure, usage};
use crate::output::{self, show};
use crate::values::count;

const EXAMPLES: &str = "\
Examples:
  headworks sim recovery --dynamic 0 --static-time 25ms --threads 150 --queue 500 --drops --patience 1s
  headworks sim recovery --from access.log --threads 150 --queue 511 --drops --patience 2s --surge 5:10s
  headworks sim recovery --model model.toml --patience 1s --retry-delay 2s --try-retries 3 --try-loads 0.3,0.5,0.7";

/// Says whether a server comes back by itself from a surge, and when, by its load and by how often clients ask again that have given up; and up to which load it does.
///
/// Clients that ask again are load that overload makes itself: beyond a border it goes on when the surge is over. The model's own load and number of retries do not count. A server has recovered when 95 % of the requests are answered in time for five times as long as clients wait, and for forty requests at least.
#[derive(Debug, clap::Args)]
#[command(after_long_help = format!("{EXAMPLES}\n\n{}", EXIT_CODES))]
pub(super) struct RecoveryArgs {
    /// The surge: its load, and how long it lasts.
    #[arg(long, value_name = "LOAD:SPAN", default_value = "3:10s")]
    surge: SurgeLoad,
    /// Loads before and after it.
    #[arg(long, value_name = "R,..", value_delimiter = ',', default_value = "0.1,0.3,0.5,0.7,0.9")]
    try_loads: Vec<f64>,
    /// How often clients ask again.
    #[arg(long, value_name = "N,..", value_delimiter = ',', default_value = "0,1,2,3")]
    try_retries: Vec<u32>,
    /// How long the server has to come back.
    #[arg(long, value_name = "SPAN", default_value = "60s")]
    within: Span,
    #[command(flatten)]
    from: FromArgs,
    #[command(flatten)]
    model: ModelArgs,
    /// Replications of each trial.
    #[arg(long, value_name = "N", help_heading = SEARCH, default_value = "20", value_parser = count::<u32>(10..=10_000))]
    replications: u32,
    /// Where random numbers begin.
    #[arg(long, value_name = "N", help_heading = SEARCH, default_value_t = 1)]
    seed: u64,
    /// Processors to simulate on (default: all); the outcome does not depend on it.
    #[arg(long, value_name = "N", help_heading = SEARCH, value_parser = count::<NonZeroUsize>(1..=10_000))]
    cores: Option<NonZeroUsize>,
    /// Print one JSON object.
    #[arg(long, help_heading = output::HEADING)]
    json: bool,
    /// Show no progress.
    #[arg(long, short, help_heading = output::HEADING)]
    quiet: bool,
}

impl RecoveryArgs {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        let given = [self.model.rate.is_some(), self.model.load.is_some(), self.model.retries.is_some()];
        if given != [false; 3] {
            return Err(usage("loads and numbers of retries are tried: give --try-loads and --try-retries"));
        }
        let Self { replications, seed, cores, .. } = self;
        let plan = Plan { replications, seed, cores, ..Plan::default() };
        // What they do is looked at before anything is simulated.
        let args = ModelArgs { retries: self.try_retries.iter().copied().max(), ..self.model };
        let model = self.from.model(&args)?;
        let question = RecoveryQuestion {
            surge: self.surge,
            loads: self.try_loads,
            retries: self.try_retries,
            within: self.within,
            plan,
        };
        let wait = Wait::new(&question.plan, self.quiet)?;
        let map = wait.during(|control| map_recovery(&model, &question, control))?;
        show(&map, self.json)?;
        Ok(wait.interrupted().unwrap_or(Exit::Ok))
    }
}
