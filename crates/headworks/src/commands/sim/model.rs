//! The options that describe a model, alone or on top of a model file.

use std::path::PathBuf;
use std::str::FromStr;

use anyhow::anyhow;
use sim::{Class, DYNAMIC, Discipline, Model, Offered, STATIC, Service, Traced};
use traffic::Process;
use units::{Rate, Ratio, Span};

use crate::commands::values::count;
use crate::exit::Failure;

const ARRIVALS: &str = "Arrivals";
const REQUESTS: &str = "Requests";
const SERVER: &str = "Server";

#[derive(Debug, clap::Args)]
pub(super) struct ModelArgs {
    /// A model file, such as `sim fit` writes; options that are given count for more than what it says.
    #[arg(long, value_name = "FILE")]
    pub(super) model: Option<PathBuf>,

    /// Requests over those that the server can serve (default 1, and a trace's own rate).
    #[arg(long, value_name = "R", help_heading = ARRIVALS, conflicts_with = "rate")]
    pub(super) load: Option<f64>,
    /// Requests per second.
    #[arg(long, short, value_name = "R", help_heading = ARRIVALS)]
    pub(super) rate: Option<Rate>,
    /// How they are spread over time: poisson, constant, h2, gamma, lognormal (with --cv), mmpp:RATIO:BUSY:QUIET, or trace:FILE as in a file of times or an access log, scaled to --rate or --load if one is given (default: poisson, and h2 with a --cv above 1).
    #[arg(long, value_name = "PROCESS", help_heading = ARRIVALS)]
    pub(super) arrivals: Option<Arrivals>,
    /// Coefficient of variation of the times between arrivals.
    #[arg(long, value_name = "X", help_heading = ARRIVALS)]
    pub(super) cv: Option<f64>,

    /// The share of dynamic requests (default 0.2).
    #[arg(long, value_name = "F", help_heading = REQUESTS)]
    pub(super) dynamic: Option<Ratio>,
    /// How many times as much processor time a dynamic request needs (default 100).
    #[arg(long, value_name = "T", help_heading = REQUESTS)]
    pub(super) dynamic_cost: Option<f64>,
    /// Processor time that a static request needs on average (default 5ms).
    #[arg(long, value_name = "SPAN", help_heading = REQUESTS)]
    pub(super) static_time: Option<Span>,
    /// Its distribution, for both: gamma, exponential, lognormal, erlang:STAGES or constant (default gamma).
    #[arg(long, value_name = "LAW", help_heading = REQUESTS)]
    pub(super) service: Option<Service>,
    /// Its coefficient of variation, with gamma and lognormal (default 0.6).
    #[arg(long, value_name = "X", help_heading = REQUESTS)]
    pub(super) service_cv: Option<f64>,

    /// Requests that are worked on at a time (default 25).
    #[arg(long, value_name = "N", help_heading = SERVER, value_parser = count::<u32>(1..=1_000_000))]
    pub(super) threads: Option<u32>,
    /// Requests that wait for a thread, at most; `none` for no limit (default 0).
    #[arg(long, value_name = "N", help_heading = SERVER)]
    pub(super) queue: Option<Queue>,
    /// How a processor is divided: ps (all at once), rr:QUANTUM (in turn) or fcfs (default ps).
    #[arg(long, value_name = "NAME", help_heading = SERVER)]
    pub(super) discipline: Option<Discipline>,
    /// Processors that the threads share (default 1).
    #[arg(long, value_name = "N", help_heading = SERVER, value_parser = count::<u32>(1..=10_000))]
    pub(super) processors: Option<u32>,
}

/// The value of `--queue`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Queue(pub(super) Option<u32>);

impl FromStr for Queue {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "none" {
            return Ok(Self(None));
        }
        count::<u32>(0..=1_000_000_000)(text).map(|queue| Self(Some(queue)))
    }
}

/// The value of `--arrivals`; a variation may stand in `--cv`.
#[derive(Debug, Clone)]
pub(super) enum Arrivals {
    Named(String),
    Trace(PathBuf),
}

impl FromStr for Arrivals {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text.strip_prefix("trace:") {
            Some(file) => Self::Trace(file.into()),
            None => Self::Named(text.to_owned()),
        })
    }
}

fn usage(what: impl std::fmt::Display) -> Failure {
    Failure::Usage(anyhow!("{what}"))
}

impl ModelArgs {
    /// The model of the file, or the paper's, with what was given.
    pub(super) fn model(self) -> Result<Model, Failure> {
        let base = match &self.model {
            Some(file) => Model::read(file)?,
            None => Model::default(),
        };
        self.over(base)
    }

    /// A model with what was given on the command line in the place of its own.
    pub(super) fn over(&self, base: Model) -> Result<Model, Failure> {
        let (arrivals, own_rate) = self.arrivals_over(&base.arrivals)?;
        let offered = match (self.rate.map(Rate::as_f64).or(own_rate), self.load) {
            (_, Some(load)) => Offered::Load(load),
            (Some(rate), None) => Offered::Rate(rate),
            (None, None) => base.offered,
        };
        if matches!(offered, Offered::Clients(..)) && (self.arrivals.is_some() || self.cv.is_some()) {
            return Err(usage(
                "the model's clients wait for their answers, so that --arrivals and --cv have no meaning; give a --rate or a --load as well, or leave them out",
            ));
        }
        let model = Model {
            arrivals,
            offered,
            classes: self.classes_over(&base.classes)?,
            service: self.service_over(base.service)?,
            threads: self.threads.unwrap_or(base.threads),
            queue: self.queue.map_or(base.queue, |queue| queue.0),
            discipline: self.discipline.unwrap_or(base.discipline),
            processors: self.processors.unwrap_or(base.processors),
            ..base
        };
        model.check().map_err(usage)?;
        Ok(model)
    }

    fn service_over(&self, base: Service) -> Result<Service, Failure> {
        let law = self.service.unwrap_or(base);
        match (self.service_cv, law) {
            (None, law) => Ok(law),
            (Some(cv), Service::Gamma { .. }) => Service::gamma(cv).map_err(usage),
            (Some(cv), Service::Lognormal { .. }) => Service::lognormal(cv).map_err(usage),
            (Some(_), other) => Err(usage(format!(
                "--service {other} has a coefficient of variation of its own; leave out --service-cv"
            ))),
        }
    }

    fn classes_over(&self, base: &[Class]) -> Result<Vec<Class>, Failure> {
        if self.dynamic.is_none() && self.dynamic_cost.is_none() && self.static_time.is_none() {
            return Ok(base.to_vec());
        }
        let names: Vec<&str> = base.iter().map(|class| class.name.as_str()).collect();
        if names.iter().any(|name| ![STATIC, DYNAMIC].contains(name)) {
            return Err(usage(format!(
                "--dynamic, --dynamic-cost and --static-time are about the classes {STATIC} and {DYNAMIC}; the model has {}: change its file",
                names.join(", ")
            )));
        }
        let paper = Model::default().classes;
        let own = |name| base.iter().find(|class| class.name == name);
        let demand = |name| {
            own(name).or(paper.iter().find(|class| class.name == name)).map_or(0.0, |class| class.demand)
        };
        let total: f64 = base.iter().map(|class| class.share).sum();
        let share = own(DYNAMIC).map_or(0.0, |class| class.share / total);
        let mut classes = Model::paper_classes(
            self.dynamic.map_or(share, Ratio::as_f64),
            self.dynamic_cost.unwrap_or_else(|| demand(DYNAMIC) / demand(STATIC)),
            self.static_time.map_or_else(|| demand(STATIC), Span::as_secs_f64),
        );
        for class in &mut classes {
            if let Some(own) = own(&class.name) {
                (class.disk, class.size) = (own.disk, own.size);
            }
        }
        Ok(classes)
    }

    /// How requests are spread over time, and the rate that a trace has.
    fn arrivals_over(&self, base: &sim::Arrivals) -> Result<(sim::Arrivals, Option<f64>), Failure> {
        match (&self.arrivals, self.cv, base) {
            (None, None, base) => Ok((base.clone(), None)),
            (None, Some(cv), sim::Arrivals::Renewal(Process::Gamma { .. })) => {
                named(&format!("gamma:{cv}")).map(rateless)
            }
            (None, Some(cv), sim::Arrivals::Renewal(Process::Lognormal { .. })) => {
                named(&format!("lognormal:{cv}")).map(rateless)
            }
            (None, Some(_), sim::Arrivals::Mmpp(_) | sim::Arrivals::Observed(_)) => Err(usage(format!(
                "--cv is about independent times between arrivals; the model's arrivals are {base}: give --arrivals as well"
            ))),
            (Some(Arrivals::Trace(_)), Some(_), _) => Err(usage(
                "--arrivals trace:FILE has the times between arrivals that are in the file; leave out --cv",
            )),
            (Some(Arrivals::Trace(file)), None, _) => {
                let Traced { arrivals, rate, skipped } =
                    Traced::read(file).map_err(|why| Failure::Usage(why.into()))?;
                if skipped.broken() > 0 {
                    eprintln!("{skipped}");
                }
                Ok((arrivals, Some(rate)))
            }
            _ => self.arrivals().map(rateless),
        }
    }

    /// Arrivals as the command line alone says; a trace is not among them.
    pub(super) fn arrivals(&self) -> Result<sim::Arrivals, Failure> {
        let name = match (&self.arrivals, self.cv) {
            (Some(Arrivals::Trace(file)), _) => format!("trace:{}", file.display()),
            (None, None | Some(1.0)) => "poisson".to_owned(),
            (None, Some(cv)) if cv < 1.0 => {
                return Err(Failure::Usage(anyhow!(
                    "hyperexponential arrivals, the default, have a --cv from 1; for {cv} take --arrivals gamma or lognormal"
                )));
            }
            (None, Some(cv)) => format!("h2:{cv}"),
            (Some(Arrivals::Named(name)), Some(cv)) if !name.contains(':') => format!("{name}:{cv}"),
            (Some(Arrivals::Named(name)), Some(_)) => {
                return Err(usage(format!("--arrivals {name} says it all; leave out --cv")));
            }
            (Some(Arrivals::Named(name)), None) => name.clone(),
        };
        named(&name)
    }
}

fn rateless(arrivals: sim::Arrivals) -> (sim::Arrivals, Option<f64>) {
    (arrivals, None)
}

fn named(name: &str) -> Result<sim::Arrivals, Failure> {
    name.parse().map_err(|why: sim::ArrivalsError| Failure::Usage(why.into()))
}
