//! `headworks sim plan`: how many servers it takes.

use std::str::FromStr;

use sim::Balancing;
use sim::advise::Objective;
use sim::fit::Fit;
use sim::planner::{Balancings, Profile, ProfileError, Question, plan_capacity};
use units::Span;

use super::fit::FromArgs;
use super::model::ModelArgs;
use super::search::{SEARCH, SearchArgs};
use super::wait::Wait;
use crate::exit::{EXIT_CODES, Exit, Failure, usage};
use crate::output::{self, show};
use crate::values::count;

const EXAMPLES: &str = "\
Examples:
  headworks sim plan --from access.log --rate 900 --objective 'p95<500ms' --objective 'rejected<0.1%' --spare 1
  headworks sim plan --model model.toml --rate 900 --objective 'p95<500ms' --compare
                                                      with each way of giving requests to servers
  headworks sim plan --from access.log --profile log --window 30m --scaling-delay 5m --objective 'p95<500ms'
  headworks sim plan --model model.toml --profile 100:8h,900:4h,300:12h --scaling-delay 5m --objective 'p95<500ms'";

/// Finds how many servers, like the one of the model, it takes to meet objectives at a rate; how many threads each needs, and how large a single server would have to be.
///
/// It simulates fleets of growing size behind a load balancer, with the same requests for all, and takes an objective for met when the whole of its 95 % interval is. The exit code is 3 when nothing meets them.
#[derive(Debug, clap::Args)]
#[command(after_long_help = format!("{EXAMPLES}\n\n{}", EXIT_CODES))]
pub(super) struct PlannerArgs {
    /// What is to be achieved (repeatable): mean, p50, p90, p95, p99 or p99.9 of the latency, rejected (of the attempts) or lost (of the requests, after all attempts), and an upper bound, such as p95<500ms or rejected<0.1%.
    #[arg(long, value_name = "BOUND", required = true)]
    objective: Vec<Objective>,
    /// Servers that may fail while the objectives are still met.
    #[arg(long, value_name = "N", default_value = "0", value_parser = count::<u32>(0..=1000))]
    spare: u32,
    /// Rates over time instead of one, each with the time that it lasts, such as 100:8h,900:4h,300:12h; or `log`: those of the windows of the log or run that is given by --from, each as long as --window says.
    #[arg(long, value_name = "RATE:SPAN,..|log", conflicts_with_all = ["rate", "load"])]
    profile: Option<Rates>,
    /// How long it takes until a server that is asked for takes requests, where their number is to follow the profile.
    #[arg(long, value_name = "SPAN", default_value = "0s", requires = "profile")]
    scaling_delay: Span,
    /// Try all ways of giving requests to servers.
    #[arg(long, conflicts_with = "balancing")]
    compare: bool,
    #[command(flatten)]
    from: FromArgs,
    #[command(flatten)]
    model: ModelArgs,
    /// Servers at most.
    #[arg(long, value_name = "N", help_heading = SEARCH, default_value = "256", value_parser = count::<u32>(1..=10_000))]
    most: u32,
    #[command(flatten)]
    search: SearchArgs,
    /// Print one JSON object.
    #[arg(long, help_heading = output::HEADING)]
    json: bool,
    /// Show no progress.
    #[arg(long, short, help_heading = output::HEADING)]
    quiet: bool,
}

/// Rates over time, as they are given.
#[derive(Debug, Clone)]
enum Rates {
    Given(Profile),
    Log,
}

impl FromStr for Rates {
    type Err = ProfileError;

    fn from_str(text: &str) -> Result<Self, ProfileError> {
        if text == "log" { Ok(Self::Log) } else { text.parse().map(Self::Given) }
    }
}

impl Rates {
    fn profile(self, fit: Option<&Fit>) -> Result<Profile, Failure> {
        match (self, fit) {
            (Self::Given(profile), _) => Ok(profile),
            (Self::Log, Some(fit)) if fit.windows.is_empty() => Err(usage(&format!(
                "{} does not say when requests came, so that there is no --profile log; give the rates, as in --profile 100:8h,900:4h",
                fit.source
            ))),
            (Self::Log, Some(fit)) => Ok(Profile { steps: fit.rates() }),
            (Self::Log, None) => Err(usage(
                "--profile log has the rates of a log or a run; say of which, as in --from access.log",
            )),
        }
    }
}

impl PlannerArgs {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        let plan = self.search.plan();
        let (model, fit) = self.from.model_and_fit(&self.model)?;
        let profile = self.profile.map(|rates| rates.profile(fit.as_ref())).transpose()?;
        let balancing = if self.compare {
            Balancings::All
        } else {
            Balancings::One(self.model.balancing.unwrap_or(Balancing::LeastConnections))
        };
        let question = Question {
            objectives: self.objective,
            spare: self.spare,
            balancing,
            most: self.most,
            profile,
            scaling_delay: self.scaling_delay,
            plan,
        };
        let wait = Wait::new(&question.plan, self.quiet)?;
        let answer = wait.during(|control| plan_capacity(&model, &question, control))?;
        show(&answer, self.json)?;
        let verdict = if answer.found.is_some() { Exit::Ok } else { Exit::ObjectiveMissed };
        Ok(wait.interrupted().unwrap_or(verdict))
    }
}
