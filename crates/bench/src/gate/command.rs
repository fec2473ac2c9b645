//! `bench gate`: what a request costs `headworks gate`, beside HAProxy and nginx in the same run.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use stats::Spread;

use super::case::{Answer, Case, SIZES};
use super::plan::GatePlan;
use super::proxy::{Proxy, ProxyFiles};
use super::run::{Run, Runner};
use super::table::Results;
use crate::generators::generator::{Generator, Programs};
use crate::harness::conditions::{Conditions, Needs};
use crate::harness::options::Options;
use crate::harness::rounds;
use crate::results::raw::Places;
use crate::servers::site::Site;

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
    #[command(flatten)]
    options: Options,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let plan = args.plan()?;
    let headworks = &args.options.target.headworks;
    let needs = Needs {
        page: PAGE,
        descriptors: u64::from(plan.connections) + BESIDES,
        processors: "the proxy needs a processor of its own",
    };
    let conditions = Conditions::find(&needs, versions(headworks), args.options.target.force)?;
    let place = Path::new(PLACE);
    let runner = Runner {
        site: Site::create(place, &SIZES, conditions.isolation)?,
        place: ProxyFiles::create(place, headworks, conditions.isolation)?,
        headworks: headworks.clone(),
        processors: conditions.processors(),
    };
    let server = runner.serve(Answer::Served).context("the server behind does not start")?;
    runner.place.try_all(&server)?;
    drop(server);

    let mut runs = plan
        .plan
        .saturate(|case, proxy, round, seconds| runner.saturate(case, proxy, round, seconds), progress);
    let rate = if plan.latency { pace(&runner, &plan, &mut runs) } else { None };
    weigh(&runner, &plan, &mut runs);
    let results = Results { conditions, plan, runs, rate };
    let of_record = results.plan.plan.of_record;
    PLACES.keep(of_record, &results.to_markdown(), &results.about_all(), &results.runs)
}

impl Args {
    fn plan(&self) -> anyhow::Result<GatePlan> {
        let mut plan = if self.options.quick { GatePlan::quick() } else { GatePlan::full() };
        if let Some(pattern) = &self.options.only {
            plan.keep_only(pattern);
        }
        if plan.is_empty() {
            bail!(
                "--only {}: no such case; names are as 1k/keep-alive/http1/haproxy, latency and idle/gate",
                self.options.only.as_deref().unwrap_or_default()
            );
        }
        plan.plan.saturation = self.options.effort(plan.plan.saturation);
        plan.plan.open_loop = self.options.effort(plan.plan.open_loop);
        Ok(plan)
    }
}

/// Versions of what takes part; that something is missing is found out here, not after ten minutes.
fn versions(headworks: &Path) -> anyhow::Result<Vec<String>> {
    let programs = Programs { headworks: headworks.to_owned(), shb: PathBuf::new() };
    let proxies = Proxy::ALL.into_iter().map(|proxy| (proxy.name(), proxy.version(headworks)));
    let peers =
        [Generator::Wrk, Generator::H2load].into_iter().map(|peer| (peer.name(), peer.version(&programs)));
    let openssl = ("openssl", testbed::succeeds("openssl", &["version"]).map_err(Into::into));
    proxies
        .chain(peers)
        .chain([openssl])
        .map(|(name, version)| version.with_context(|| format!("{name} is needed")))
        .collect()
}

/// Measures latency at a quarter of what the slowest of the proxies carries; gives that rate.
fn pace(runner: &Runner, plan: &GatePlan, runs: &mut Vec<Run>) -> Option<f64> {
    let first = Case::FIRST.to_string();
    let mut slowest = f64::INFINITY;
    for proxy in Proxy::ALL {
        let of_it = |run: &&Run| run.case == first && run.proxy == proxy.name();
        if !runs.iter().any(|run| of_it(&run)) {
            let run = runner.saturate(Case::FIRST, proxy, 0, plan.plan.saturation.seconds);
            progress(0, 1, &run);
            runs.push(run);
        }
        let highest = Spread::of(runs.iter().filter(of_it).filter_map(Run::rate));
        let Some(highest) = highest else {
            eprintln!("no latency: the highest rate of {} in {first} is unknown", proxy.name());
            return None;
        };
        slowest = slowest.min(highest.median);
    }
    let rate = slowest / 4.0;
    let ways: Vec<_> = [None].into_iter().chain(Proxy::ALL.map(Some)).collect();
    let measure = |proxy, round, seconds| runner.pace(proxy, rate as u64, round, seconds);
    runs.extend(plan.plan.pace(&ways, measure, progress));
    Some(rate)
}

fn weigh(runner: &Runner, plan: &GatePlan, runs: &mut Vec<Run>) {
    const ROUNDS: u32 = 3;
    for round in 0..ROUNDS {
        for proxy in rounds::order(&plan.idle, round) {
            let run = runner.weigh(proxy, plan.connections, round);
            progress(round, ROUNDS, &run);
            runs.push(run);
        }
    }
}

fn progress(round: u32, rounds: u32, run: &Run) {
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
