//! [`Overrides`]: a model with some of its numbers replaced, by the command line or at a point of a sweep.

use std::path::Path;

use traffic::Process;

use super::class::{Class, DYNAMIC, STATIC};
use super::discipline::Discipline;
use super::equipment::{Patience, Retries};
use super::error::ModelError;
use super::fleet::{Balancing, Fleet};
use super::offered::Offered;
use super::quota::{Limit, Quota};
use super::room::Room;
use super::server::Model;
use crate::draw::{Arrivals, ArrivalsError, Service, ServiceError, TraceError, Traced};

/// What is to be otherwise than in a model; each is named as the option of `headworks sim`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Overrides {
    /// Requests over those that can be served.
    pub load: Option<f64>,
    /// Requests per second.
    pub rate: Option<f64>,
    /// How they are spread over time.
    pub arrivals: Option<GivenArrivals>,
    /// Coefficient of variation of the times between them.
    pub cv: Option<f64>,
    /// The share of dynamic requests.
    pub dynamic: Option<f64>,
    /// How many times as much one of them needs.
    pub dynamic_cost: Option<f64>,
    /// What a static one needs, in seconds.
    pub static_time: Option<f64>,
    /// How many of them are computed at a time; see [`Class::workers`].
    pub dynamic_workers: Option<u32>,
    /// The law of demands; a coefficient of variation may stand in `service_cv`.
    pub service: Option<String>,
    /// See [`Overrides::service`].
    pub service_cv: Option<f64>,
    /// See [`Model::threads`].
    pub threads: Option<u32>,
    /// See [`Model::queue`].
    pub queue: Option<Room>,
    /// See [`Model::discipline`].
    pub discipline: Option<Discipline>,
    /// See [`Model::processors`].
    pub processors: Option<u32>,
    /// See [`Model::quota`].
    pub quota: Option<Limit>,
    /// See [`Quota`], in seconds.
    pub quota_period: Option<f64>,
    /// See [`Model::network`].
    pub network: Option<f64>,
    /// See [`Model::drops`]; false leaves it as it is.
    pub drops: bool,
    /// How long clients wait, all as long, in seconds.
    pub patience: Option<f64>,
    /// How often they come back; all of them do, unless the model says otherwise.
    pub retries: Option<u32>,
    /// How long after it came to nothing on average, in seconds.
    pub retry_delay: Option<f64>,
    /// See [`Fleet`].
    pub servers: Option<u32>,
    /// See [`Fleet`].
    pub balancing: Option<Balancing>,
}

/// Arrivals as they were given.
#[derive(Debug, Clone, PartialEq)]
pub enum GivenArrivals {
    /// By a name, such as `h2` or `h2:3`.
    Named(String),
    /// As in a trace, at its rate unless another is given.
    Traced(Traced),
}

impl GivenArrivals {
    /// As in `text`, whose file, if it names one, is looked for in `directory`; see [`Traced::named`].
    ///
    /// # Errors
    /// When the file cannot be read, or makes no arrivals. Whether there are arrivals of a name is found out later.
    pub fn named(text: &str, directory: &Path) -> Result<Self, TraceError> {
        Traced::named(text, directory)
            .map_or_else(|| Ok(Self::Named(text.to_owned())), |traced| traced.map(Self::Traced))
    }
}

/// Why a model cannot be changed as asked.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OverrideError {
    /// What comes out cannot be simulated.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// No arrivals.
    #[error(transparent)]
    Arrivals(#[from] ArrivalsError),
    /// No law of demands.
    #[error(transparent)]
    Service(#[from] ServiceError),
    /// A variation twice.
    #[error("{what} has a variation of its own; leave out {option}")]
    OwnVariation {
        /// What has it.
        what: String,
        /// What was given besides.
        option: &'static str,
    },
    /// A share, and a log that has one.
    #[error(
        "the log says which requests are dynamic; leave out dynamic, or take its times alone, as in trace:FILE"
    )]
    OwnShare,
    /// A variation that hyperexponential arrivals cannot have.
    #[error(
        "hyperexponential arrivals, the default, have a cv from 1; for {0} take gamma or lognormal arrivals"
    )]
    LowVariation(f64),
    /// A variation of arrivals that are not independent.
    #[error(
        "cv is about independent times between arrivals; the model's arrivals are {0}: give arrivals as well"
    )]
    Dependent(String),
    /// The paper's classes, where there are others.
    #[error(
        "dynamic, dynamic-cost, dynamic-workers and static-time are about the classes {STATIC} and {DYNAMIC}; the model has {0}: change its file"
    )]
    OtherClasses(String),
    /// Workers of a class that there is not.
    #[error("dynamic-workers is about the class {DYNAMIC}, and the model has {0}")]
    NoDynamic(String),
    /// Workers that are never all in use.
    #[error(
        "{workers} workers of dynamic requests are no limit where the server has {threads} threads; give fewer, or leave dynamic-workers out"
    )]
    IdleWorkers {
        /// Workers of the class.
        workers: u32,
        /// Threads of the server.
        threads: u32,
    },
    /// A share outside 0 to 1.
    #[error("the share of dynamic requests must be from 0 to 1, not {0}")]
    Share(f64),
    /// Arrivals of clients that wait for their answers.
    #[error(
        "the model's clients wait for their answers, so that arrivals and cv have no meaning; give a rate or a load as well, or leave them out"
    )]
    Clients,
    /// A pause before what does not come.
    #[error(
        "clients do not ask again, so that retry-delay has no effect; give retries as well, or leave it out"
    )]
    NoRetries,
    /// A period of what there is not.
    #[error(
        "the server has no quota, so that quota-period has no effect; give a quota as well, or leave it out"
    )]
    NoQuota,
    /// Two sizes of the same thing.
    #[error("load and rate both say how many requests there are; keep one of them")]
    LoadAndRate,
}

impl Overrides {
    /// `base` with what was given in the place of its own.
    ///
    /// # Errors
    /// When something given would have no effect, or what comes out cannot be simulated.
    pub fn over(&self, base: Model) -> Result<Model, OverrideError> {
        let mut model = Model {
            arrivals: self.arrivals_over(&base.arrivals)?,
            offered: self.offered_over(base.offered)?,
            classes: self.classes_over(&base.classes)?,
            service: self.service_over(base.service)?,
            threads: self.threads.unwrap_or(base.threads),
            queue: self.queue.map_or(base.queue, |queue| queue.0),
            drops: self.drops || base.drops,
            discipline: self.discipline.unwrap_or(base.discipline),
            processors: self.processors.unwrap_or(base.processors),
            quota: self.quota_over(base.quota)?,
            network: self.network.unwrap_or(base.network),
            patience: self
                .patience
                .map_or(base.patience, |mean| Some(Patience { mean, law: patience_law(base.patience) })),
            retries: self.retries_over(base.retries)?,
            fleet: Fleet {
                servers: self.servers.unwrap_or(base.fleet.servers),
                balancing: self.balancing.unwrap_or(base.fleet.balancing),
            },
            ..base
        };
        if self.service.is_some() || self.service_cv.is_some() {
            model.classes.iter_mut().for_each(|class| (class.service, class.samples) = (None, None));
        }
        if let Some(share) = model.arrivals.dynamic_share() {
            if self.dynamic.is_some() {
                return Err(OverrideError::OwnShare);
            }
            model.classes.iter_mut().for_each(|class| {
                class.share = if class.name == DYNAMIC { share } else { 1.0 - share };
            });
        }
        if let Some(workers) = self.dynamic_workers {
            let names: Vec<&str> = model.classes.iter().map(|class| class.name.as_str()).collect();
            let others = OverrideError::NoDynamic(names.join(", "));
            let dynamic = model.classes.iter_mut().find(|class| class.name == DYNAMIC);
            dynamic.ok_or(others)?.workers = Some(workers);
            if workers >= model.threads {
                return Err(OverrideError::IdleWorkers { workers, threads: model.threads });
            }
        }
        model.check()?;
        Ok(model)
    }

    fn quota_over(&self, base: Option<Quota>) -> Result<Option<Quota>, OverrideError> {
        let quota = match self.quota {
            None => base,
            Some(Limit(None)) => None,
            Some(Limit(Some(processors))) => {
                Some(Quota { processors, ..base.unwrap_or(Quota::of(processors)) })
            }
        };
        match (quota, self.quota_period) {
            (Some(quota), period) => Ok(Some(Quota { period: period.unwrap_or(quota.period), ..quota })),
            (None, None) => Ok(None),
            (None, Some(_)) => Err(OverrideError::NoQuota),
        }
    }

    /// None where clients come back zero times.
    fn retries_over(&self, base: Option<Retries>) -> Result<Option<Retries>, OverrideError> {
        let all = Retries { share: 1.0, ..Retries::NONE };
        let retries = base.unwrap_or(all);
        let most = self.retries.unwrap_or(retries.most);
        if most == 0 {
            return if self.retry_delay.is_some() { Err(OverrideError::NoRetries) } else { Ok(None) };
        }
        let delay = self.retry_delay.unwrap_or(retries.delay);
        Ok(Some(Retries { most, delay, ..retries }))
    }

    fn offered_over(&self, base: Offered) -> Result<Offered, OverrideError> {
        let traced = match &self.arrivals {
            Some(GivenArrivals::Traced(traced)) => Some(traced.rate),
            _ => None,
        };
        let offered = match (self.load, self.rate) {
            (Some(_), Some(_)) => return Err(OverrideError::LoadAndRate),
            (Some(load), None) => Offered::Load(load),
            (None, rate) => rate.or(traced).map_or(base, Offered::Rate),
        };
        let spread = self.arrivals.is_some() || self.cv.is_some();
        if matches!(offered, Offered::Clients(..)) && spread {
            return Err(OverrideError::Clients);
        }
        Ok(offered)
    }

    fn arrivals_over(&self, base: &Arrivals) -> Result<Arrivals, OverrideError> {
        match (&self.arrivals, self.cv, base) {
            (None, None, base) => Ok(base.clone()),
            (None, Some(cv), Arrivals::Renewal(Process::Gamma { .. })) => Ok(format!("gamma:{cv}").parse()?),
            (None, Some(cv), Arrivals::Renewal(Process::Lognormal { .. })) => {
                Ok(format!("lognormal:{cv}").parse()?)
            }
            (None, Some(_), Arrivals::Mmpp(_) | Arrivals::Observed(_)) => {
                Err(OverrideError::Dependent(base.to_string()))
            }
            _ => self.arrivals_alone(),
        }
    }

    /// Arrivals as they were given, whatever a model has.
    ///
    /// # Errors
    /// When nothing that was given makes arrivals, or some of it would have no effect.
    pub fn arrivals_alone(&self) -> Result<Arrivals, OverrideError> {
        let own_variation = |what| Err(OverrideError::OwnVariation { what, option: "cv" });
        let name = match (&self.arrivals, self.cv) {
            (Some(GivenArrivals::Traced(_)), Some(_)) => return own_variation("a trace".to_owned()),
            (Some(GivenArrivals::Traced(traced)), None) => return Ok(traced.arrivals.clone()),
            (None, None | Some(1.0)) => "poisson".to_owned(),
            (None, Some(cv)) if cv < 1.0 => return Err(OverrideError::LowVariation(cv)),
            (None, Some(cv)) => format!("h2:{cv}"),
            (Some(GivenArrivals::Named(name)), Some(cv)) if !name.contains(':') => format!("{name}:{cv}"),
            (Some(GivenArrivals::Named(name)), Some(_)) => return own_variation(name.clone()),
            (Some(GivenArrivals::Named(name)), None) => name.clone(),
        };
        Ok(name.parse()?)
    }

    /// The law of demands in the place of `base`.
    ///
    /// # Errors
    /// When nothing that was given makes a law, or some of it would have no effect.
    pub fn service_over(&self, base: Service) -> Result<Service, OverrideError> {
        let law = self.service.as_deref().map_or(Ok(base), str::parse)?;
        let Some(cv) = self.service_cv else { return Ok(law) };
        let own_variation = |what| Err(OverrideError::OwnVariation { what, option: "service-cv" });
        match (&self.service, law) {
            (Some(name), _) if name.contains(':') => own_variation(name.clone()),
            (_, Service::Gamma { .. }) => Ok(Service::gamma(cv)?),
            (_, Service::Lognormal { .. }) => Ok(Service::lognormal(cv)?),
            (_, other) => own_variation(other.to_string()),
        }
    }

    fn classes_over(&self, base: &[Class]) -> Result<Vec<Class>, OverrideError> {
        if self.dynamic.is_none() && self.dynamic_cost.is_none() && self.static_time.is_none() {
            return Ok(base.to_vec());
        }
        let names: Vec<&str> = base.iter().map(|class| class.name.as_str()).collect();
        if names.iter().any(|name| ![STATIC, DYNAMIC].contains(name)) {
            return Err(OverrideError::OtherClasses(names.join(", ")));
        }
        let paper = Model::default().classes;
        let own = |name| base.iter().find(|class| class.name == name);
        let demand = |name| {
            own(name).or(paper.iter().find(|class| class.name == name)).map_or(0.0, |class| class.demand)
        };
        let total: f64 = base.iter().map(|class| class.share).sum();
        let share = own(DYNAMIC).map_or(0.0, |class| class.share / total);
        let dynamic = self.dynamic.unwrap_or(share);
        if !(0.0..=1.0).contains(&dynamic) {
            return Err(OverrideError::Share(dynamic));
        }
        let mut classes = Model::paper_classes(
            dynamic,
            self.dynamic_cost.unwrap_or_else(|| demand(DYNAMIC) / demand(STATIC)),
            self.static_time.unwrap_or_else(|| demand(STATIC)),
        );
        for class in &mut classes {
            if let Some(own) = own(&class.name) {
                (class.disk, class.size, class.service) = (own.disk, own.size, own.service);
                (class.samples, class.calls) = (own.samples.clone(), own.calls.clone());
                class.workers = own.workers;
            }
        }
        Ok(classes)
    }
}

fn patience_law(base: Option<Patience>) -> Service {
    base.map_or(Service::Constant, |patience| patience.law)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::Observed;

    fn named(name: &str) -> Option<GivenArrivals> {
        Some(GivenArrivals::Named(name.to_owned()))
    }

    fn traced() -> Option<GivenArrivals> {
        let arrivals = Arrivals::Observed(Observed::new(&[0.0, 0.25, 0.5]).unwrap());
        Some(GivenArrivals::Traced(Traced { arrivals, rate: 4.0, skipped: Default::default() }))
    }

    #[test]
    fn what_would_have_no_effect_is_an_error() {
        let check = |given: Overrides, base: &Model, says: &str| {
            let why = given.over(base.clone()).unwrap_err().to_string();
            assert!(why.contains(says), "{why}");
        };
        let none = Overrides::default();
        let paper = Model::default();
        for name in ["h2:3", "mmpp:5:1s:1s"] {
            let given = Overrides { arrivals: named(name), cv: Some(2.0), ..none.clone() };
            check(given, &paper, "has a variation of its own; leave out cv");
        }
        check(Overrides { arrivals: traced(), cv: Some(2.0), ..none.clone() }, &paper, "leave out cv");
        check(Overrides { cv: Some(0.5), ..none.clone() }, &paper, "gamma or lognormal");
        let own = Overrides { service: Some("gamma:0.5".to_owned()), service_cv: Some(0.7), ..none.clone() };
        check(own, &paper, "leave out service-cv");
        let constant =
            Overrides { service: Some("constant".to_owned()), service_cv: Some(0.7), ..none.clone() };
        check(constant, &paper, "leave out service-cv");
        let both = Overrides { load: Some(1.0), rate: Some(2.0), ..none.clone() };
        check(both, &paper, "keep one of them");
        let closed = Model { offered: Offered::Clients(5, 1.0), ..Model::default() };
        check(Overrides { arrivals: named("poisson"), ..none.clone() }, &closed, "wait for their answers");
        check(Overrides { cv: Some(2.0), ..none.clone() }, &closed, "wait for their answers");
        let modulated = Model { arrivals: "mmpp:5:1s:1s".parse().unwrap(), ..Model::default() };
        check(Overrides { cv: Some(2.0), ..none.clone() }, &modulated, "the model's arrivals are mmpp");
        check(Overrides { dynamic: Some(1.5), ..none }, &paper, "from 0 to 1");
    }

    #[test]
    fn a_quota_has_the_usual_period_and_takes_its_part_of_the_load() {
        let given = Overrides { quota: Some(Limit(Some(0.5))), load: Some(0.8), ..Overrides::default() };
        let model = given.over(Model::default()).unwrap();
        assert_eq!(model.quota, Some(Quota { processors: 0.5, period: 0.1 }));
        let whole = Overrides { load: Some(0.4), ..Overrides::default() }.over(Model::default()).unwrap();
        assert!((model.rate().unwrap() / whole.rate().unwrap() - 1.0).abs() < 1e-12);
        let shorter = Overrides { quota_period: Some(0.02), ..Overrides::default() };
        assert_eq!(shorter.over(model).unwrap().quota, Some(Quota { processors: 0.5, period: 0.02 }));
        assert_eq!(shorter.over(Model::default()), Err(OverrideError::NoQuota));
        let none = Overrides { quota: Some(Limit(None)), ..Overrides::default() };
        assert_eq!(none.over(given.over(Model::default()).unwrap()).unwrap().quota, None);
    }

    #[test]
    fn a_log_says_which_requests_are_dynamic() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let line = |at: u32, url: &str| {
            format!("{{\"ts\":{at},\"request\":{{\"method\":\"GET\",\"uri\":\"{url}\"}}}}\n")
        };
        std::fs::write(
            file.path(),
            [line(1_700_000_000, "/"), line(1_700_000_001, "/a.php"), line(1_700_000_002, "/")].concat(),
        )
        .unwrap();
        let named = format!("log:{}", file.path().display());
        let traced = Traced::named(&named, Path::new("")).unwrap().unwrap();
        let given = Overrides { arrivals: Some(GivenArrivals::Traced(traced)), ..Overrides::default() };
        let model = given.over(Model::default()).unwrap();
        let shares: Vec<f64> = model.classes.iter().map(|class| class.share).collect();
        assert_eq!(shares, [0.5, 0.5]);
        let twice = Overrides { dynamic: Some(0.3), ..given };
        assert_eq!(twice.over(Model::default()), Err(OverrideError::OwnShare));
    }

    #[test]
    fn a_trace_has_its_own_rate_unless_another_is_given() {
        let given = Overrides { arrivals: traced(), ..Overrides::default() };
        assert_eq!(given.over(Model::default()).unwrap().offered, Offered::Rate(4.0));
        let scaled = Overrides { load: Some(0.5), ..given.clone() };
        assert_eq!(scaled.over(Model::default()).unwrap().offered, Offered::Load(0.5));
        let scaled = Overrides { rate: Some(2.0), ..given };
        assert_eq!(scaled.over(Model::default()).unwrap().offered, Offered::Rate(2.0));
    }
}
