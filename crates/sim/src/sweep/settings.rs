//! [`Settings`]: a model as it stands in a spec, by the names of the command line's options.

use std::path::Path;

use serde::Deserialize;
use units::{Count, Rate, Span};

use crate::model::{DYNAMIC, GivenArrivals, Limit, Model, Overrides, Room, STATIC};
use crate::plan::Plan;

/// What is set; the rest is that of a file, or the paper's.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Settings {
    /// A model file.
    file: Option<String>,
    load: Option<f64>,
    #[serde(default, with = "config::quantity::optional")]
    rate: Option<Rate>,
    arrivals: Option<String>,
    cv: Option<f64>,
    dynamic: Option<f64>,
    dynamic_cost: Option<f64>,
    #[serde(default, with = "config::quantity::optional")]
    static_time: Option<Span>,
    service: Option<String>,
    service_cv: Option<f64>,
    threads: Option<u32>,
    #[serde(default, with = "config::quantity::optional")]
    queue: Option<Room>,
    discipline: Option<String>,
    processors: Option<u32>,
    #[serde(default, with = "config::quantity::optional")]
    quota: Option<Limit>,
    #[serde(default, with = "config::quantity::optional")]
    quota_period: Option<Span>,
    #[serde(default, with = "config::quantity::optional")]
    network: Option<Span>,
    servers: Option<u32>,
    balancing: Option<String>,
}

/// The two classes as the paper parametrizes them; not a number where there are others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Mix {
    pub(super) dynamic: f64,
    pub(super) cost: f64,
    pub(super) static_time: f64,
}

impl Mix {
    fn of(model: &Model) -> Self {
        let class = |name| model.classes.iter().find(|class| class.name == name);
        let demand = |name| class(name).map_or(f64::NAN, |class| class.demand);
        let total: f64 = model.classes.iter().map(|class| class.share).sum();
        let known = class(STATIC).is_some() || class(DYNAMIC).is_some();
        Self {
            dynamic: class(DYNAMIC).map_or(if known { 0.0 } else { f64::NAN }, |class| class.share / total),
            cost: demand(DYNAMIC) / demand(STATIC),
            static_time: demand(STATIC),
        }
    }
}

impl Settings {
    /// These, and what they leave open as in `base`.
    pub(super) fn over(&self, base: &Self) -> Self {
        macro_rules! first {
            ($($name:ident),*) => { Self { $($name: self.$name.clone().or_else(|| base.$name.clone())),* } };
        }
        let mut settings = first!(
            file,
            load,
            rate,
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
            processors,
            quota,
            quota_period,
            network,
            servers,
            balancing
        );
        // A load takes the place of a rate, and the other way round.
        settings.load = settings.load.filter(|_| self.load.is_some() || self.rate.is_none());
        settings.rate = settings.rate.filter(|_| self.rate.is_some() || self.load.is_none());
        settings
    }

    /// Whether the model is that of a file.
    pub(super) fn has_file(&self) -> bool {
        self.file.is_some()
    }

    /// The model, and its classes as far as they are the paper's; or why there is no model. Files that
    /// are named are looked for in `directory`.
    pub(super) fn model(&self, directory: &Path) -> Result<(Model, Mix), String> {
        let base = match &self.file {
            Some(file) => Model::read(&directory.join(file)).map_err(text)?,
            None => Model::default(),
        };
        let arrivals = self.arrivals.as_deref().map(|name| GivenArrivals::named(name, directory));
        let arrivals = arrivals.transpose().map_err(text)?;
        let given = Overrides {
            load: self.load,
            rate: self.rate.map(Rate::as_f64),
            arrivals,
            cv: self.cv,
            dynamic: self.dynamic,
            dynamic_cost: self.dynamic_cost,
            static_time: self.static_time.map(Span::as_secs_f64),
            service: self.service.clone(),
            service_cv: self.service_cv,
            threads: self.threads,
            queue: self.queue,
            discipline: self.discipline.as_ref().map(|name| name.parse()).transpose().map_err(text)?,
            processors: self.processors,
            quota: self.quota,
            network: self.network.map(Span::as_secs_f64),
            quota_period: self.quota_period.map(Span::as_secs_f64),
            servers: self.servers,
            balancing: self.balancing.as_ref().map(|name| name.parse()).transpose().map_err(text)?,
            ..Overrides::default()
        };
        let model = given.over(base).map_err(text)?;
        let mix = Mix::of(&model);
        if self.file.is_some() {
            return Ok((model, mix));
        }
        // A share of 0 or 1 leaves a class out of the model; its cost may have been given nevertheless.
        let paper = Mix::of(&Model::default());
        let mix = Mix {
            dynamic: given.dynamic.or(model.arrivals.dynamic_share()).unwrap_or(paper.dynamic),
            cost: given.dynamic_cost.unwrap_or(paper.cost),
            static_time: given.static_time.unwrap_or(paper.static_time),
        };
        Ok((model, mix))
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
