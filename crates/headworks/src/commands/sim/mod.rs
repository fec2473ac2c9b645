//! `headworks sim`: simulates a server in overload.

mod advise;
mod args;
mod behind;
mod fit;
mod model;
mod recorded;
mod sessions;
mod sweep;
mod view;
mod wait;

use anyhow::anyhow;
use serde::Serialize;
use sim::Plan;
use sim::exact;

pub(crate) use self::args::Args;
use self::args::{Command, PlanArgs, RunArgs};
use self::sessions::Common;
use self::view::View;
use self::wait::Wait;
use super::print;
use crate::exit::{Exit, Failure};

impl Args {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        match self.command {
            Some(Command::Exact(args)) => {
                let model = args.model.model()?;
                let solution = exact::solve(&model).map_err(|why| Failure::Usage(why.into()))?;
                show(&solution, args.json)?;
                Ok(Exit::Ok)
            }
            Some(Command::Fit(args)) => args.run(),
            Some(Command::Advise(args)) => args.run(),
            Some(Command::Sweep(args)) => args.run(),
            Some(Command::Figures(args)) => args.run(),
            None => self.run.run(),
        }
    }
}

impl RunArgs {
    fn run(self) -> Result<Exit, Failure> {
        if let (Some(workload), Some(rate)) = (&self.sessions.workload, self.model.rate) {
            let (arrivals, service) = (self.model.arrivals()?, self.model.session_service()?);
            let plan = self.plan.plan()?;
            let processors = self.model.processors.unwrap_or(1);
            let (json, quiet) = (self.json, self.quiet);
            let common = Common { rate, arrivals, service, processors, plan, json, quiet };
            return self.sessions.run(workload, &self.policy, common);
        }
        let (model, plan) = (self.from.model(&self.model)?, self.plan.plan()?);
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
        for about in [outcome.about_trace(&model), outcome.about_gate()].into_iter().flatten() {
            eprintln!("note: {about}");
        }
        Ok(wait.exit(outcome.precision))
    }
}

impl PlanArgs {
    fn plan(&self) -> Result<Plan, Failure> {
        if !(0.0..1.0).contains(&self.precision) {
            return Err(Failure::Usage(anyhow!(
                "--precision must be a share from 0 to 1, such as 0.01, not {}",
                self.precision
            )));
        }
        Ok(Plan {
            seed: self.seed,
            requests: self.requests,
            warmup: self.warmup,
            replications: self.replications,
            precision: (self.precision > 0.0).then_some(self.precision),
            long_run: self.long_run,
            cores: self.cores,
        })
    }
}

fn show(what: &(impl Serialize + std::fmt::Display), json: bool) -> Result<(), Failure> {
    if json {
        let text = serde_json::to_string(what).map_err(|why| Failure::Failed(why.into()))?;
        print(text + "\n")
    } else {
        print(what)
    }
}
