//! [`Settings`]: a model as it stands in a spec, by the names of the command line's options.

use serde::Deserialize;
use units::{Count, Span};

use crate::draw::{Arrivals, Service};
use crate::model::{Model, Offered};
use crate::replications::Plan;

/// What is set; the rest is the paper's.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Settings {
    load: Option<f64>,
    arrivals: Option<String>,
    cv: Option<f64>,
    dynamic: Option<f64>,
    dynamic_cost: Option<f64>,
    #[serde(default, with = "config::quantity::optional")]
    static_time: Option<Span>,
    service: Option<String>,
    service_cv: Option<f64>,
    threads: Option<u32>,
    queue: Option<Queue>,
    discipline: Option<String>,
    processors: Option<u32>,
}

/// A length, or the word `none` for no limit.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum Queue {
    Length(u32),
    Word(String),
}

/// The two classes as the paper parametrizes them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Mix {
    pub(super) dynamic: f64,
    pub(super) cost: f64,
    pub(super) static_time: f64,
}

impl Settings {
    /// These, and what they leave open as in `base`.
    pub(super) fn over(&self, base: &Self) -> Self {
        macro_rules! first {
            ($($name:ident),*) => { Self { $($name: self.$name.clone().or_else(|| base.$name.clone())),* } };
        }
        first!(
            load,
            arrivals,
            cv,
            dynamic,
            dynamic_cost,
            static_time,
            service,
            service_cv,
            threads,
            queue,
            discipline,
            processors
        )
    }

    pub(super) fn mix(&self) -> Mix {
        Mix {
            dynamic: self.dynamic.unwrap_or(0.2),
            cost: self.dynamic_cost.unwrap_or(100.0),
            static_time: self.static_time.map_or(0.005, |span| span.as_secs_f64()),
        }
    }

    /// The model, or why there is none.
    pub(super) fn model(&self) -> Result<Model, String> {
        let default = Model::default();
        let mix = self.mix();
        if !(0.0..=1.0).contains(&mix.dynamic) {
            return Err(format!("the share of dynamic requests must be from 0 to 1, not {}", mix.dynamic));
        }
        let model = Model {
            arrivals: self.arrivals()?,
            offered: Offered::Load(self.load.unwrap_or(1.0)),
            classes: Model::paper_classes(mix.dynamic, mix.cost, mix.static_time),
            service: self.service()?,
            threads: self.threads.unwrap_or(default.threads),
            queue: match &self.queue {
                None => default.queue,
                Some(Queue::Length(length)) => Some(*length),
                Some(Queue::Word(word)) if word == "none" => None,
                Some(Queue::Word(word)) => {
                    return Err(format!("a queue is a number of requests, or \"none\"; not {word:?}"));
                }
            },
            discipline: match &self.discipline {
                None => default.discipline,
                Some(name) => name.parse().map_err(text)?,
            },
            processors: self.processors.unwrap_or(default.processors),
            ..default
        };
        model.check().map_err(text)?;
        Ok(model)
    }

    fn arrivals(&self) -> Result<Arrivals, String> {
        let name = match (&self.arrivals, self.cv) {
            (None, None | Some(1.0)) => "poisson".to_owned(),
            (None, Some(cv)) if cv < 1.0 => {
                return Err(format!(
                    "hyperexponential arrivals, the default, have a cv from 1; for {cv} take arrivals = \"gamma\" or \"lognormal\""
                ));
            }
            (None, Some(cv)) => format!("h2:{cv}"),
            (Some(name), Some(cv)) if !name.contains(':') => format!("{name}:{cv}"),
            (Some(name), _) => name.clone(),
        };
        name.parse().map_err(text)
    }

    fn service(&self) -> Result<Service, String> {
        let name = self.service.as_deref().unwrap_or("gamma");
        match self.service_cv {
            None => name.parse().map_err(text),
            Some(cv) if matches!(name, "gamma" | "lognormal") => format!("{name}:{cv}").parse().map_err(text),
            Some(_) => Err(format!(
                "service {name:?} has a coefficient of variation of its own; leave out service-cv"
            )),
        }
    }
}

fn text(why: impl std::fmt::Display) -> String {
    why.to_string()
}

/// How much to simulate at each point; what is left out is as in [`Plan::default`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Effort {
    seed: Option<u64>,
    #[serde(default, with = "config::quantity::optional")]
    requests: Option<Count>,
    #[serde(default, with = "config::quantity::optional")]
    warmup: Option<Count>,
    replications: Option<u32>,
    /// 0 for all replications.
    precision: Option<f64>,
}

impl Effort {
    pub(super) fn over(&self, base: &Self) -> Self {
        Self {
            seed: self.seed.or(base.seed),
            requests: self.requests.or(base.requests),
            warmup: self.warmup.or(base.warmup),
            replications: self.replications.or(base.replications),
            precision: self.precision.or(base.precision),
        }
    }

    pub(super) fn plan(&self) -> Result<Plan, String> {
        let default = Plan::default();
        let precision = self.precision.or(default.precision).unwrap_or(0.0);
        if !(0.0..1.0).contains(&precision) {
            return Err(format!("precision must be a share from 0 to 1, such as 0.01, not {precision}"));
        }
        let plan = Plan {
            seed: self.seed.unwrap_or(default.seed),
            requests: self.requests.map_or(default.requests, |count| count.0),
            warmup: self.warmup.map(|count| count.0),
            replications: self.replications.unwrap_or(default.replications),
            precision: (precision > 0.0).then_some(precision),
            ..default
        };
        match plan {
            Plan { replications: 0 | 1, .. } => {
                Err("replications must be at least 2: one alone says nothing of how sure it is".to_owned())
            }
            Plan { requests: 0..100, .. } => Err("requests must be at least 100".to_owned()),
            plan => Ok(plan),
        }
    }
}
