//! `bench gate`: what a request costs `headworks gate`, beside HAProxy and nginx in the same run.

mod case;
mod hold;
mod proxy;
mod run;
mod table;

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use self::case::{Case, Plan, SIZES};
use self::proxy::{Place, Proxy};
use self::run::{Run, Runner};
use self::table::Results;
use crate::machine::{self, Host};
use crate::peers::{Peer, Programs};
use crate::raw::{Places, Setting};
use crate::rounds;
use crate::site::Site;
use stats::Spread;
use testbed::Isolation;

pub(crate) use hold::{Args as Hold, run as hold};

const PAGE: &str = "docs/benchmarks/gate.md";
const PLACES: Places =
    Places { page: PAGE, raw: "docs/benchmarks/raw/gate.json", passing: "target/bench/gate.json" };
/// Where configurations, files and what is not of record are written.
const PLACE: &str = "target/bench";

/// Descriptors that a proxy has besides those of idle connections.
const BESIDES: u64 = 1_024;

/// CPU per request, requests per second, added latency and memory of `headworks gate`, beside HAProxy and nginx.
///
/// A run of everything writes docs/benchmarks/gate.md and raw/gate.json beside it; with --quick or --only the table is only printed, and the raw results go below target/bench.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Short rounds of a few cases, to see whether it works.
    #[arg(long)]
    quick: bool,
    /// Only what has this in its name, such as 1k/keep-alive/http1, 100k/close/http1/haproxy, latency or idle.
    #[arg(long, value_name = "PATTERN")]
    only: Option<String>,
    /// How often each proxy runs in each case.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: Option<u32>,
    /// How long each run takes.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=600))]
    seconds: Option<u32>,
    /// Measure on a machine that others use, and say so.
    #[arg(long)]
    force: bool,
    /// The gate that is measured, and the server behind.
    #[arg(long, value_name = "FILE", default_value = "target/release/headworks")]
    headworks: PathBuf,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    crate::page::must_be_here(PAGE)?;
    let plan = args.plan()?;
    let versions = versions(&args.headworks)?;
    machine::raise_descriptors(u64::from(plan.connections) + BESIDES)?;
    let host = Host::describe();
    if host.processors < 2 {
        bail!("the proxy needs a processor of its own, and this machine has one");
    }
    let processors = host.processors;
    let setting = Setting::find(host, versions, args.force)?;
    let isolation = Isolation::find();
    eprintln!("{}", isolation.describe());
    let place = Path::new(PLACE);
    let runner = Runner {
        site: Site::create(place, &SIZES, isolation)?,
        place: Place::create(place, &args.headworks, isolation)?,
        headworks: args.headworks.clone(),
        processors,
    };
    let server = runner.serve().context("the server behind does not start")?;
    runner.place.try_all(&server)?;
    drop(server);

    let mut runs = saturate(&runner, &plan);
    let rate = if plan.latency { pace(&runner, &plan, &mut runs) } else { None };
    weigh(&runner, &plan, &mut runs);
    let results = Results { setting, isolation, plan, runs, rate };
    PLACES.keep(results.plan.of_record, &results.to_markdown(), &results.about_all(), &results.runs)
}

impl Args {
    fn plan(&self) -> anyhow::Result<Plan> {
        let mut plan = if self.quick { Plan::quick() } else { Plan::full() };
        if let Some(pattern) = &self.only {
            plan.keep_only(pattern);
        }
        if plan.is_empty() {
            bail!(
                "--only {}: no such case; names are as 1k/keep-alive/http1/haproxy, latency and idle/gate",
                self.only.as_deref().unwrap_or_default()
            );
        }
        if let Some(rounds) = self.rounds {
            (plan.rounds, plan.latency_rounds) = (rounds, rounds);
        }
        if let Some(seconds) = self.seconds {
            (plan.seconds, plan.latency_seconds) = (seconds, seconds);
        }
        Ok(plan)
    }
}

/// Versions of what takes part; that something is missing is found out here, not after ten minutes.
fn versions(headworks: &Path) -> anyhow::Result<Vec<String>> {
    let programs = Programs { headworks: headworks.to_owned(), shb: PathBuf::new() };
    let proxies = Proxy::ALL.into_iter().map(|proxy| (proxy.name(), proxy.version(headworks)));
    let peers = [Peer::Wrk, Peer::H2load].into_iter().map(|peer| (peer.name(), peer.version(&programs)));
    let openssl = ("openssl", testbed::succeeds("openssl", &["version"]).map_err(Into::into));
    proxies
        .chain(peers)
        .chain([openssl])
        .map(|(name, version)| version.with_context(|| format!("{name} is needed")))
        .collect()
}

/// Each round runs every proxy once in every case, so that a slow minute of the machine falls on
/// all of them.
fn saturate(runner: &Runner, plan: &Plan) -> Vec<Run> {
    let mut runs = Vec::new();
    for round in 0..plan.rounds {
        for (case, proxies) in &plan.cases {
            for proxy in rounds::order(proxies, round) {
                runs.push(runner.saturate(*case, proxy, round, plan.seconds));
                progress(round, plan.rounds, runs.last());
            }
        }
    }
    runs
}

/// Measures latency at half of what the slowest of the proxies carries; gives that rate.
fn pace(runner: &Runner, plan: &Plan, runs: &mut Vec<Run>) -> Option<f64> {
    let first = Case::FIRST.to_string();
    let mut slowest = f64::INFINITY;
    for proxy in Proxy::ALL {
        let of_it = |run: &&Run| run.case == first && run.proxy == proxy.name();
        if !runs.iter().any(|run| of_it(&run)) {
            runs.push(runner.saturate(Case::FIRST, proxy, 0, plan.seconds));
            progress(0, 1, runs.last());
        }
        let highest = Spread::of(runs.iter().filter(of_it).filter_map(Run::rate));
        let Some(highest) = highest else {
            eprintln!("no latency: the highest rate of {} in {first} is unknown", proxy.name());
            return None;
        };
        slowest = slowest.min(highest.median);
    }
    let rate = slowest / 2.0;
    let ways: Vec<_> = [None].into_iter().chain(Proxy::ALL.map(Some)).collect();
    for round in 0..plan.latency_rounds {
        for proxy in rounds::order(&ways, round) {
            runs.push(runner.pace(proxy, rate as u64, round, plan.latency_seconds));
            progress(round, plan.latency_rounds, runs.last());
        }
    }
    Some(rate)
}

fn weigh(runner: &Runner, plan: &Plan, runs: &mut Vec<Run>) {
    const ROUNDS: u32 = 3;
    for round in 0..ROUNDS {
        for proxy in rounds::order(&plan.idle, round) {
            runs.push(runner.weigh(proxy, plan.connections, round));
            progress(round, ROUNDS, runs.last());
        }
    }
}

fn progress(round: u32, rounds: u32, run: Option<&Run>) {
    let Some(run) = run else { return };
    let head = format!("round {}/{rounds}  {:20} {:8}", round + 1, run.case, run.proxy);
    let others = run.cost.map_or(0.0, |cost| cost.others * 100.0);
    match (&run.failure, run.latency, run.per_connection, run.cpu_us().zip(run.rate())) {
        (Some(failure), ..) => eprintln!("{head} {failure}"),
        (_, Some(latency), ..) => {
            let (p50, p99) = (latency.p50 * 1e6, latency.p99 * 1e6);
            eprintln!("{head} p50 {p50:.0} us  p99 {p99:.0} us  others {others:.0} %");
        }
        (_, _, Some(bytes), _) => eprintln!("{head} {bytes:.0} bytes/connection"),
        (.., Some((us, rate))) => {
            eprintln!("{head} {us:8.2} us/request {rate:9.0} /s  others {others:.0} %");
        }
        _ => eprintln!("{head} no figure"),
    }
}
