//! `headworks sim advise`: what to admit.

use std::path::Path;

use sim::advise::{AdviceOptions, KnobOptions, Objective, advise, advise_knobs};
use sim::{Model, Plan};
use units::Ratio;

use super::behind::PolicyArgs;
use super::fit::FromArgs;
use super::model::ModelArgs;
use super::search::{SEARCH, SearchArgs};
use super::view::View;
use crate::exit::{EXIT_CODES, Exit, Failure};
use crate::output::{self, show};
use crate::values::count;

const EXAMPLES: &str = "\
Examples:
  headworks sim advise --from access.log --objective 'p90<1s'
  headworks sim advise --model model.toml --objective 'p99<3s' --objective 'rejected<1%' --try-threads 25
  headworks sim advise --load 3 --policy gate.toml --premium 0.2 --objective 'premium:p90<500ms'
                                                      where to put the gate's knobs";

/// Finds the load to admit, the length of the queue and the number of threads with which a server meets its objectives.
///
/// It simulates each setting at growing loads, with the same requests for all, and takes an objective for met when the whole of its 95 % interval is. Without one about rejection, at most 5 % may be rejected, or lost where clients give up or come back. With --policy it finds the knobs with which the gate before the server meets them at the load that is given instead: of those that do, the ones that serve most of the most important class. The exit code is 3 when nothing meets them.
#[derive(Debug, clap::Args)]
#[command(after_long_help = format!("{EXAMPLES}\n\n{}", EXIT_CODES))]
pub(super) struct AdviseArgs {
    /// What is to be achieved (repeatable): mean, p50, p90, p95, p99 or p99.9 of the latency, rejected (of the attempts) or lost (of the requests, after all attempts), and an upper bound, such as p90<1s or rejected<5%; with --policy, of one of the gate's classes, such as premium:p90<500ms.
    #[arg(long, value_name = "BOUND", required = true)]
    objective: Vec<Objective>,
    #[command(flatten)]
    from: FromArgs,
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    policy: PolicyArgs,
    /// Numbers of threads to try (default: the model's, 5, 10, 25, 50 and 100).
    #[arg(long, value_name = "N,..", help_heading = SEARCH, value_delimiter = ',', value_parser = count::<u32>(1..=1_000_000), conflicts_with = "policy")]
    try_threads: Vec<u32>,
    /// Lengths of the queue to try (default: the model's, 0, 10, 25, 50, 100, 250 and 1000).
    #[arg(long, value_name = "N,..", help_heading = SEARCH, value_delimiter = ',', value_parser = count::<u32>(0..=1_000_000_000), conflicts_with = "policy")]
    try_queues: Vec<u32>,
    /// Values of the gate's differentiation to try (default: its own, 0, 0.5, 0.9 and 1).
    #[arg(long, value_name = "X,..", help_heading = SEARCH, value_delimiter = ',', requires = "policy")]
    try_differentiation: Vec<Ratio>,
    /// Values of the gate's favour to try (default: its own, 0, 0.5 and 1).
    #[arg(long, value_name = "X,..", help_heading = SEARCH, value_delimiter = ',', requires = "policy")]
    try_favour: Vec<Ratio>,
    #[command(flatten)]
    search: SearchArgs,
    /// Requests at the beginning of each that are not counted (default: found by MSER-5 in pilot runs of each setting).
    #[arg(long, value_name = "N", help_heading = SEARCH, value_parser = count::<u64>(0..=100_000_000_000))]
    warmup: Option<u64>,
    /// Print one JSON object.
    #[arg(long, help_heading = output::HEADING)]
    json: bool,
    /// Show no progress.
    #[arg(long, short, help_heading = output::HEADING)]
    quiet: bool,
}

impl AdviseArgs {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        let plan = Plan { warmup: self.warmup, ..self.search.plan() };
        let model = self.from.model(&self.model)?;
        let is_found = match &self.policy.policy {
            Some(policy) => self.knobs(policy, &model, plan)?,
            None => self.settings(&model, plan)?,
        };
        Ok(if is_found { Exit::Ok } else { Exit::ObjectiveMissed })
    }

    /// Whether there are settings of the server with which the objectives are met.
    fn settings(&self, model: &Model, plan: Plan) -> Result<bool, Failure> {
        let (threads, queues) = (self.try_threads.clone(), self.try_queues.clone());
        let options = AdviceOptions { threads, queues, plan };
        let view = View::new("settings", self.quiet);
        let tell = |tried: usize, all: usize| view.tell(tried, all);
        let advice = advise(model, &self.objective, &options, &tell);
        view.end();
        let advice = advice.map_err(|why| Failure::Usage(why.into()))?;
        show(&advice, self.json)?;
        Ok(advice.best.is_some())
    }

    /// Whether there are knobs of the gate with which they are.
    fn knobs(&self, policy: &Path, model: &Model, plan: Plan) -> Result<bool, Failure> {
        let gate = self.policy.gate(policy, model)?;
        let (differentiation, favour) = (self.try_differentiation.clone(), self.try_favour.clone());
        let options = KnobOptions { differentiation, favour, plan };
        let view = View::new("pairs of knobs", self.quiet);
        let tell = |tried: usize, all: usize| view.tell(tried, all);
        let advice = advise_knobs(&gate, model, &self.objective, &options, &tell);
        view.end();
        let advice = advice.map_err(|why| Failure::Usage(why.into()))?;
        show(&advice, self.json)?;
        if let Some(about) = advice.about_gate() {
            eprintln!("note: {about}");
        }
        Ok(advice.best.is_some())
    }
}
