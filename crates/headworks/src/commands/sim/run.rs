//! `headworks sim` without a subcommand: simulates one model.

use std::path::PathBuf;

use super::behind::PolicyArgs;
use super::fit::FromArgs;
use super::model::ModelArgs;
use super::plan::PlanArgs;
use super::recorded;
use super::sessions::{Common, SessionArgs};
use super::wait::Wait;
use crate::exit::{Exit, Failure};
use crate::output::{self, show};

#[derive(Debug, clap::Args)]
pub(super) struct RunArgs {
    #[command(flatten)]
    from: FromArgs,
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    sessions: SessionArgs,
    #[command(flatten)]
    policy: PolicyArgs,
    #[command(flatten)]
    plan: PlanArgs,
    /// Keep the outcome, the model and the course of one replication in this directory, with a report.
    #[arg(long, value_name = "DIR", help_heading = output::HEADING, conflicts_with = "policy")]
    out: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long, help_heading = output::HEADING)]
    json: bool,
    /// Show no progress.
    #[arg(long, short, help_heading = output::HEADING)]
    quiet: bool,
}

impl RunArgs {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        if let Some(workload) = &self.sessions.workload {
            let rate = self.model.rate;
            let (arrivals, service) = (self.model.arrivals()?, self.model.session_service()?);
            let plan = self.plan.plan()?;
            let processors = self.model.processors.unwrap_or(1);
            let (json, quiet) = (self.json, self.quiet);
            let common = Common { rate, arrivals, service, processors, plan, json, quiet };
            return self.sessions.run(workload, &self.policy, common);
        }
        let model = self.policy.with_slow_clients(self.from.model(&self.model)?)?;
        let plan = self.plan.plan()?;
        let wait = Wait::new(&plan, self.quiet)?;
        let outcome = match (&self.out, &self.policy.policy) {
            (Some(out), _) => recorded::run(&model, &plan, out, self.json, &wait)?,
            (None, None) => wait.during(|control| sim::run_under(&model, &plan, control))?,
            (None, Some(policy)) => {
                let gate = self.policy.gate(policy, &model)?;
                wait.during(|control| sim::run_behind(&gate, &model, &plan, control))?
            }
        };
        if self.out.is_none() {
            show(&outcome, self.json)?;
        }
        let remarks = [outcome.about_trace(&model), outcome.about_gate(), outcome.about_retries(&model)];
        for about in remarks.into_iter().flatten() {
            eprintln!("note: {about}");
        }
        Ok(wait.exit(outcome.precision))
    }
}
