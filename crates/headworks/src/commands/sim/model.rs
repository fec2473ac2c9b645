//! The options that describe a model, alone or on top of a model file.

use std::path::{Path, PathBuf};

use sim::{Balancing, Discipline, GivenArrivals, Limit, Model, Overrides, Room, Service};
use units::{Rate, Ratio, Span};

use crate::exit::Failure;
use crate::values::count;

const ARRIVALS: &str = "Arrivals";
const REQUESTS: &str = "Requests";
const SERVER: &str = "Server";
const CLIENTS: &str = "Clients";

#[derive(Debug, clap::Args)]
pub(super) struct ModelArgs {
    /// A model file, such as `sim fit` writes; options that are given count for more than what it says.
    #[arg(long, value_name = "FILE")]
    pub(super) model: Option<PathBuf>,

    /// Requests over those that the server can serve (default 1, and a trace's own rate).
    #[arg(long, value_name = "R", help_heading = ARRIVALS, conflicts_with = "rate", allow_negative_numbers = true)]
    pub(super) load: Option<f64>,
    /// Requests per second.
    #[arg(long, short, value_name = "R", help_heading = ARRIVALS, allow_negative_numbers = true)]
    pub(super) rate: Option<Rate>,
    /// How they are spread over time: poisson, constant, h2, gamma, lognormal (with --cv), mmpp:RATIO:BUSY:QUIET, trace:FILE as in a file of times (seconds, a line each) or an access log, or log:FILE as in an access log, of which each request stays static or dynamic; both are scaled to --rate or --load if one is given (default: poisson, and h2 with a --cv above 1).
    #[arg(long, value_name = "PROCESS", help_heading = ARRIVALS)]
    pub(super) arrivals: Option<String>,
    /// Coefficient of variation of the times between arrivals.
    #[arg(long, value_name = "X", help_heading = ARRIVALS, allow_negative_numbers = true)]
    pub(super) cv: Option<f64>,

    /// The share of dynamic requests (default 0.2).
    #[arg(long, value_name = "F", help_heading = REQUESTS, allow_negative_numbers = true)]
    pub(super) dynamic: Option<Ratio>,
    /// How many times as much processor time a dynamic request needs (default 100).
    #[arg(long, value_name = "T", help_heading = REQUESTS, allow_negative_numbers = true)]
    pub(super) dynamic_cost: Option<f64>,
    /// Dynamic requests that are computed at a time, at most, where they have workers of their own, such as the children of PHP-FPM.
    #[arg(long, value_name = "N", help_heading = REQUESTS, value_parser = count::<u32>(1..=1_000_000), allow_negative_numbers = true)]
    pub(super) dynamic_workers: Option<u32>,
    /// Processor time that a static request needs on average (default 5ms).
    #[arg(long, value_name = "SPAN", help_heading = REQUESTS, allow_hyphen_values = true)]
    pub(super) static_time: Option<Span>,
    /// Its distribution, for both: gamma, exponential, lognormal, erlang:STAGES, h2:CV, weibull:SHAPE, pareto:SHAPE or constant (default gamma).
    #[arg(long, value_name = "LAW", help_heading = REQUESTS)]
    pub(super) service: Option<String>,
    /// Its coefficient of variation, with gamma and lognormal (default 0.6).
    #[arg(long, value_name = "X", help_heading = REQUESTS, allow_negative_numbers = true)]
    pub(super) service_cv: Option<f64>,

    /// How long each client waits for an answer; the server works on for one that has given up (default: as long as it takes).
    #[arg(long, value_name = "SPAN", help_heading = CLIENTS, allow_hyphen_values = true)]
    pub(super) patience: Option<Span>,
    /// How often a client asks again that was rejected, or has given up.
    #[arg(long, value_name = "N", help_heading = CLIENTS, value_parser = count::<u32>(0..=1_000_000), allow_negative_numbers = true)]
    pub(super) retries: Option<u32>,
    /// After how long, on average (default: at once, which needs --drops, or a queue without a limit: who is told that there is no room finds none at once).
    #[arg(long, value_name = "SPAN", help_heading = CLIENTS, allow_hyphen_values = true)]
    pub(super) retry_delay: Option<Span>,

    /// Requests that are worked on at a time (default 25).
    #[arg(long, value_name = "N", help_heading = SERVER, value_parser = count::<u32>(1..=1_000_000), allow_negative_numbers = true)]
    pub(super) threads: Option<u32>,
    /// Requests that wait for a thread, at most; `none` for no limit (default 0).
    #[arg(long, value_name = "N", help_heading = SERVER, allow_negative_numbers = true)]
    pub(super) queue: Option<Room>,
    /// A full queue drops requests without a word, as a listen queue of the kernel does: clients learn of it when they give up.
    #[arg(long, help_heading = SERVER)]
    pub(super) drops: bool,
    /// How a processor is divided between those that have a thread: ps (all at once), rr:QUANTUM (in turn), fcfs, or who comes first whatever is under way: lcfs, srpt (who needs least until its end) or priority (by class, in their order) (default ps).
    #[arg(long, value_name = "NAME", help_heading = SERVER)]
    pub(super) discipline: Option<Discipline>,
    /// Processors that the threads share (default 1).
    #[arg(long, value_name = "N", help_heading = SERVER, value_parser = count::<u32>(1..=10_000), allow_negative_numbers = true)]
    pub(super) processors: Option<u32>,
    /// Processors that the server may use on average, as with a container's limit (cgroup v2's cpu.max): it stands when it has had so much of each --quota-period; `none` for all it has (the default).
    #[arg(long, value_name = "N", help_heading = SERVER, allow_negative_numbers = true)]
    pub(super) quota: Option<Limit>,
    /// How long a period of the quota is (default 100ms).
    #[arg(long, value_name = "SPAN", help_heading = SERVER, allow_hyphen_values = true)]
    pub(super) quota_period: Option<Span>,
    /// How much longer each request takes outside of the server, on the network and in its client (default 0s).
    #[arg(long, value_name = "SPAN", help_heading = CLIENTS, allow_hyphen_values = true)]
    pub(super) network: Option<Span>,
    /// Servers that are alike, behind a load balancer.
    #[arg(long, value_name = "N", help_heading = SERVER, value_parser = count::<u32>(1..=10_000), allow_negative_numbers = true)]
    pub(super) servers: Option<u32>,
    /// Which of them gets a request: random, round-robin, power-of-two or least-connections (the default).
    #[arg(long, value_name = "HOW", help_heading = SERVER)]
    pub(super) balancing: Option<Balancing>,
}

impl ModelArgs {
    /// The model of the file, or the paper's, with what was given.
    pub(super) fn model(&self) -> Result<Model, Failure> {
        let base = match &self.model {
            Some(file) => Model::read(file)?,
            None => Model::default(),
        };
        self.over(base)
    }

    /// A model with what was given on the command line in the place of its own.
    pub(super) fn over(&self, base: Model) -> Result<Model, Failure> {
        self.overrides()?.over(base).map_err(|why| Failure::Usage(why.into()))
    }

    /// Arrivals as the command line alone says.
    pub(super) fn arrivals(&self) -> Result<sim::Arrivals, Failure> {
        self.overrides()?.arrivals_alone().map_err(|why| Failure::Usage(why.into()))
    }

    /// The law of what requests of sessions need: always the same unless another is given.
    pub(super) fn session_service(&self) -> Result<Service, Failure> {
        self.overrides()?.service_over(Service::Constant).map_err(|why| Failure::Usage(why.into()))
    }

    fn overrides(&self) -> Result<Overrides, Failure> {
        Ok(Overrides {
            load: self.load,
            rate: self.rate.map(Rate::as_f64),
            arrivals: self.arrivals.as_deref().map(given).transpose()?,
            cv: self.cv,
            dynamic: self.dynamic.map(Ratio::as_f64),
            dynamic_cost: self.dynamic_cost,
            dynamic_workers: self.dynamic_workers,
            static_time: self.static_time.map(Span::as_secs_f64),
            service: self.service.clone(),
            service_cv: self.service_cv,
            threads: self.threads,
            queue: self.queue,
            discipline: self.discipline,
            processors: self.processors,
            quota: self.quota,
            network: self.network.map(Span::as_secs_f64),
            quota_period: self.quota_period.map(Span::as_secs_f64),
            drops: self.drops,
            patience: self.patience.map(Span::as_secs_f64),
            retries: self.retries,
            retry_delay: self.retry_delay.map(Span::as_secs_f64),
            servers: self.servers,
            balancing: self.balancing,
        })
    }
}

fn given(arrivals: &str) -> Result<GivenArrivals, Failure> {
    let given = GivenArrivals::named(arrivals, Path::new("")).map_err(|why| Failure::Usage(why.into()))?;
    if let GivenArrivals::Traced(traced) = &given
        && traced.skipped.broken() > 0
    {
        eprintln!("{}", traced.skipped);
    }
    Ok(given)
}
