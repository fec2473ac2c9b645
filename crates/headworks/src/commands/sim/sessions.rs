//! `headworks sim --workload`: sessions, and with `--policy` the policy in front of the server.

use std::net::{IpAddr, Ipv4Addr};
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context, anyhow};
use gate_config::Settings;
use sim::{Arrivals, Gate, Host, Plan, Script, Service, SessionModel};
use traffic::{Ramp, Workload};
use units::{ClassId, Rate, Span};

use super::behind::PolicyArgs;
use super::wait::Wait;
use crate::exit::{Exit, Failure};
use crate::output::show;
use crate::values::count;

const SESSIONS: &str = "Sessions";

/// Options of a request's model that say what the workload, or a worker for each connection, says here.
const NOT_FOR_SESSIONS: [&str; 25] = [
    "model",
    "from",
    "load",
    "cv",
    "dynamic",
    "dynamic_cost",
    "dynamic_workers",
    "static_time",
    "threads",
    "queue",
    "drops",
    "quota",
    "quota_period",
    "network",
    "servers",
    "balancing",
    "patience",
    "retries",
    "retry_delay",
    "discipline",
    "requests",
    "long_run",
    "warmup",
    "out",
    "premium",
];

#[derive(Debug, clap::Args)]
pub(super) struct SessionArgs {
    /// Simulate sessions that follow this workload, as `headworks load` would start them with the same seed; --rate or --ramp is in sessions per second.
    #[arg(long, value_name = "FILE", help_heading = SESSIONS, conflicts_with_all = NOT_FOR_SESSIONS)]
    pub(super) workload: Option<PathBuf>,
    /// Connections that the server serves at once.
    #[arg(long, value_name = "N", help_heading = SESSIONS, default_value = "150", value_parser = count::<u32>(1..=1_000_000), requires = "workload")]
    workers: u32,
    /// Connections that wait in the kernel for a worker.
    #[arg(long, value_name = "N", help_heading = SESSIONS, default_value = "511", value_parser = count::<u32>(0..=1_000_000_000), requires = "workload")]
    backlog: u32,
    /// How long a worker waits for the next request of its connection.
    #[arg(long, value_name = "SPAN", help_heading = SESSIONS, default_value = "5s", requires = "workload")]
    keep_alive: Span,
    /// Processor time of requests whose path begins with PATH; the longest counts (repeatable; default: what a path such as /burn?cpu=25ms says, otherwise none).
    #[arg(long, value_name = "PATH=SPAN", help_heading = SESSIONS, requires = "workload")]
    demand: Vec<Demand>,
    /// Processor time that each request takes besides.
    #[arg(long, value_name = "SPAN", help_heading = SESSIONS, default_value = "100us", requires = "workload")]
    request_cost: Span,
    /// The gate sees the users at so many addresses, as behind a proxy that does not say who they are (default: each has one of its own).
    #[arg(long, value_name = "N", help_heading = SESSIONS, requires = "policy", requires = "workload", value_parser = count::<u32>(1..=1_000_000))]
    addresses: Option<u32>,
    /// Rates one after the other: FROM:TO:STEP:HOLD as in 5:50:5:20s, or LEVEL:HOLD,.. as in 5:20s,50:10s,5:30s.
    #[arg(long, value_name = "RAMP", help_heading = SESSIONS, requires = "workload", conflicts_with = "rate")]
    ramp: Option<Ramp>,
    /// Say in the JSON, for every so long, what came of the requests that were sent in it, of all replications together.
    #[arg(long, value_name = "SPAN", help_heading = SESSIONS, requires = "workload")]
    interval: Option<Span>,
    /// How long sessions start that are counted (default 60s, or as long as --ramp takes).
    #[arg(long, value_name = "SPAN", help_heading = SESSIONS, requires = "workload")]
    duration: Option<Span>,
    /// How long sessions start before, which are not.
    #[arg(long, value_name = "SPAN", help_heading = SESSIONS, default_value = "10s", requires = "workload")]
    warmup_time: Span,
}

/// A value of `--demand`.
#[derive(Debug, Clone)]
struct Demand {
    path: String,
    time: Span,
}

impl FromStr for Demand {
    type Err = String;

    /// The last `=` counts: queries have some of their own.
    fn from_str(text: &str) -> Result<Self, String> {
        let (path, time) = text.rsplit_once('=').ok_or("expected a path and a time, such as /search=40ms")?;
        let time = time.parse().map_err(|why: units::ParseError| why.to_string())?;
        Ok(Self { path: path.to_owned(), time })
    }
}

/// What else the command line says of a simulation.
pub(super) struct Common {
    pub(super) rate: Option<Rate>,
    pub(super) arrivals: Arrivals,
    pub(super) service: Service,
    pub(super) processors: u32,
    pub(super) plan: Plan,
    pub(super) json: bool,
    pub(super) quiet: bool,
}

impl SessionArgs {
    /// Simulates sessions that follow `workload`.
    pub(super) fn run(&self, workload: &Path, policy: &PolicyArgs, common: Common) -> Result<Exit, Failure> {
        if common.plan.rejections.is_some() {
            return Err(Failure::Usage(anyhow!(
                "--rejections is for requests; sessions end when they are not served"
            )));
        }
        let model = self.model(workload, policy, &common)?;
        let wait = Wait::new(&common.plan, common.quiet)?;
        let outcome = wait.during(|control| sim::run_sessions_under(&model, &common.plan, control))?;
        show(&outcome, common.json)?;
        Ok(wait.exit(outcome.precision))
    }

    fn model(&self, workload: &Path, policy: &PolicyArgs, common: &Common) -> Result<SessionModel, Failure> {
        let workload = Workload::read(workload)?;
        let Arrivals::Renewal(process) = common.arrivals else {
            let why = "sessions start by poisson, constant, h2, gamma or lognormal; give one of these to --arrivals";
            return Err(Failure::Usage(anyhow!("{why}")));
        };
        let script = Script::new(&workload, |url| self.demand(url) + self.request_cost);
        let gate = match &policy.policy {
            Some(file) => Some(Gate {
                addresses: self.addresses.and_then(|number| NonZeroU64::new(number.into())),
                ..gate(&Settings::read(file)?, &workload, &script, policy.gate_cost)?
            }),
            None => None,
        };
        let duration = self.duration.unwrap_or_else(|| match &self.ramp {
            Some(ramp) => ramp.total(),
            None => Span::from_secs(60),
        });
        let starts = match (&self.ramp, common.rate) {
            (Some(ramp), _) => ramp.clone(),
            (None, Some(rate)) => Ramp::steady(rate, duration),
            (None, None) => {
                return Err(Failure::Usage(anyhow!(
                    "--workload needs --rate or --ramp, in sessions per second"
                )));
            }
        };
        let (workers, backlog, keep_alive) = (self.workers, self.backlog, self.keep_alive);
        Ok(SessionModel {
            script,
            service: common.service,
            host: Host { workers, backlog, keep_alive, processors: common.processors },
            gate,
            process,
            warmup: self.warmup_time,
            duration,
            starts,
            interval: self.interval,
        })
    }

    fn demand(&self, url: &str) -> Span {
        let given = self.demand.iter().filter(|demand| url.starts_with(&demand.path));
        let longest = given.max_by_key(|demand| demand.path.len());
        longest.map(|demand| demand.time).or_else(|| burnt(url)).unwrap_or(Span::ZERO)
    }
}

fn gate(settings: &Settings, workload: &Workload, script: &Script, cost: Span) -> Result<Gate, Failure> {
    for class in &workload.classes {
        request(class, "/").map_err(Failure::Usage)?;
    }
    let classes = script.classified(workload, |class, url| {
        let address = class.address.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
        // The workload's paths were looked at when it was read.
        request(class, url).map_or(ClassId(u8::MAX), |request| settings.class_of(&request, address))
    });
    Ok(Gate {
        policy: settings.policy().clone(),
        limits: settings.session_limits(),
        cost,
        addresses: None,
        longest_retry_after: Span::from_secs(settings.reject.retry_after.1.into()),
        classes,
    })
}

/// What a page of `headworks origin` burns.
fn burnt(url: &str) -> Option<Span> {
    let query = url.strip_prefix("/burn?")?;
    query.split('&').find_map(|parameter| parameter.strip_prefix("cpu="))?.parse().ok()
}

/// What a user of a class asks with.
fn request(class: &traffic::Class, url: &str) -> anyhow::Result<http::Request<()>> {
    let mut request = http::Request::get(url);
    if let Some((name, value)) = &class.cookie {
        request = request.header(http::header::COOKIE, format!("{name}={value}"));
    }
    for (name, value) in &class.headers {
        request = request.header(name, value);
    }
    request.body(()).with_context(|| format!("class \"{}\" makes no request", class.name))
}

#[cfg(test)]
mod tests {
    use clap::Args as _;

    use super::super::model::ModelArgs;
    use super::*;

    /// Options of a model that sessions have as well.
    const FOR_SESSIONS: [&str; 5] = ["rate", "arrivals", "service", "service_cv", "processors"];

    #[test]
    fn each_option_of_a_model_is_used_or_refused() {
        let command = ModelArgs::augment_args(clap::Command::new("sim"));
        for option in command.get_arguments().map(|option| option.get_id().as_str()) {
            let is_refused = NOT_FOR_SESSIONS.contains(&option);
            assert_ne!(is_refused, FOR_SESSIONS.contains(&option), "{option}");
        }
    }

    #[test]
    fn what_a_path_costs_is_read_from_its_end() {
        let demand: Demand = "/burn?cpu=25ms=30ms".parse().unwrap();
        assert_eq!((demand.path.as_str(), demand.time), ("/burn?cpu=25ms", Span::from_millis(30)));
        assert!("/search".parse::<Demand>().is_err());
        assert!("/search=fast".parse::<Demand>().is_err());
        assert_eq!(burnt("/burn?x=1&cpu=2ms"), Some(Span::from_millis(2)));
        assert_eq!(burnt("/bytes/2000"), None);
    }
}
