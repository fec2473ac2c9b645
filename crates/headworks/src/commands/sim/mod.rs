//! `headworks sim`: simulates a server in overload.

mod args;
mod sessions;

use std::io::Write;

use anyhow::{Context, anyhow};
use serde::Serialize;
use sim::exact;
use sim::{Model, Offered, Plan, Precision, Service};
use traffic::trace::Times;

pub(crate) use self::args::Args;
use self::args::{Arrivals, Command, ModelArgs, PlanArgs, RunArgs};
use self::sessions::Common;
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
            None => self.run.run(),
        }
    }
}

impl RunArgs {
    fn run(self) -> Result<Exit, Failure> {
        if let (Some(workload), Some(rate)) = (&self.sessions.workload, self.model.rate) {
            let (arrivals, plan) = (self.model.arrivals()?, self.plan.plan()?);
            let processors = self.model.processors;
            let common = Common { rate, arrivals, processors, plan, json: self.json };
            return self.sessions.run(workload, common);
        }
        let model = self.model.model()?;
        let outcome = sim::run(&model, &self.plan.plan()?).map_err(|why| Failure::Usage(why.into()))?;
        show(&outcome, self.json)?;
        Ok(if matches!(outcome.precision, Precision::Missed { .. }) { Exit::NotValid } else { Exit::Ok })
    }
}

impl ModelArgs {
    fn model(self) -> Result<Model, Failure> {
        let usage = |what: String| Failure::Usage(anyhow!(what));
        let arrivals = self.arrivals()?;
        let service = match (self.service_cv, self.service) {
            (None, service) => service,
            (Some(cv), Service::Gamma { .. }) => Service::gamma(cv).map_err(|why| usage(why.to_string()))?,
            (Some(cv), Service::Lognormal { .. }) => {
                Service::lognormal(cv).map_err(|why| usage(why.to_string()))?
            }
            (Some(_), other) => {
                return Err(usage(format!(
                    "--service {other} has a coefficient of variation of its own; leave out --service-cv"
                )));
            }
        };
        let model = Model {
            arrivals,
            offered: self.rate.map_or(Offered::Load(self.load), |rate| Offered::Rate(rate.as_f64())),
            classes: Model::paper_classes(
                self.dynamic.as_f64(),
                self.dynamic_cost,
                self.static_time.as_secs_f64(),
            ),
            service,
            threads: self.threads,
            queue: self.queue.0,
            discipline: self.discipline,
            processors: self.processors,
            ..Model::default()
        };
        model.check().map_err(|why| Failure::Usage(why.into()))?;
        Ok(model)
    }

    fn arrivals(&self) -> Result<sim::Arrivals, Failure> {
        let name = match (&self.arrivals, self.cv) {
            (Some(Arrivals::Trace(file)), _) => {
                let (times, skipped) = Times::read(file).map_err(|why| Failure::Usage(why.into()))?;
                if skipped.broken() > 0 {
                    eprintln!("{skipped}");
                }
                let seconds: Vec<f64> = times.arrivals().map(|time| time.as_nanos() as f64 / 1e9).collect();
                return sim::Arrivals::observed(&seconds)
                    .with_context(|| file.display().to_string())
                    .map_err(Failure::Usage);
            }
            (None, None | Some(1.0)) => "poisson".to_owned(),
            (None, Some(cv)) if cv < 1.0 => {
                return Err(Failure::Usage(anyhow!(
                    "hyperexponential arrivals, the default, have a --cv from 1; for {cv} take --arrivals gamma or lognormal"
                )));
            }
            (None, Some(cv)) => format!("h2:{cv}"),
            (Some(Arrivals::Named(name)), Some(cv)) if !name.contains(':') => format!("{name}:{cv}"),
            (Some(Arrivals::Named(name)), _) => name.clone(),
        };
        name.parse().map_err(|why: sim::ArrivalsError| Failure::Usage(why.into()))
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
    let text = if json {
        serde_json::to_string(what).map(|text| text + "\n").map_err(|why| Failure::Failed(why.into()))?
    } else {
        what.to_string()
    };
    std::io::stdout()
        .write_all(text.as_bytes())
        .context("cannot write to standard output")
        .map_err(Failure::Failed)
}
