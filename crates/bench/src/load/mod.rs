//! `bench load`: what a request costs `headworks load`, beside other generators in the same run.

mod case;
mod run;
mod table;

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use self::case::{Case, Plan, SIZES};
use self::run::{Run, Runner};
use self::table::Results;
use crate::machine::{self, Host};
use crate::peers::{Peer, Programs};
use crate::raw::{Places, Setting};
use crate::rounds;
use crate::server::SERVER_CPU;
use crate::site::{self, Content, Site};
use stats::Spread;
use testbed::Isolation;

const PAGE: &str = "docs/benchmarks/load.md";
const PLACES: Places =
    Places { page: PAGE, raw: "docs/benchmarks/raw/load.json", passing: "target/bench/load.json" };
/// Where the server's files and records of runs are; what is left of a run that was interrupted
/// is overwritten by the next.
const PLACE: &str = "target/bench";

/// 1,000 connections, files and what a program opens besides.
const DESCRIPTORS: u64 = 2_048;

/// CPU per request, requests per second and pacing of `headworks load`, beside wrk, h2load, hey and shb.
///
/// A run of all cases writes docs/benchmarks/load.md and raw/load.json beside it; with --quick or --only the table is only printed, and the raw results go below target/bench.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Two short rounds of two cases, to see whether it works.
    #[arg(long)]
    quick: bool,
    /// Only what has this in its name, such as 1k/keep-alive/64, close/1000/wrk or pacing/50.
    #[arg(long, value_name = "PATTERN")]
    only: Option<String>,
    /// How often each generator runs in each case.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: Option<u32>,
    /// How long each run takes.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=600))]
    seconds: Option<u32>,
    /// Measure on a machine that others use, and say so.
    #[arg(long)]
    force: bool,
    /// The generator that is measured.
    #[arg(long, value_name = "FILE", default_value = "target/release/headworks")]
    headworks: PathBuf,
    /// Where shb is.
    #[arg(long, value_name = "FILE", default_value = ".tools/bin/shb")]
    shb: PathBuf,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    crate::page::must_be_here(PAGE)?;
    let plan = args.plan()?;
    let programs = Programs { headworks: args.headworks.clone(), shb: args.shb.clone() };
    let versions = versions(&plan, &programs)?;
    machine::raise_descriptors(DESCRIPTORS)?;
    let host = Host::describe();
    if host.processors < 2 {
        bail!("server and generator need a processor each, and this machine has one");
    }
    let processors = host.processors;
    let setting = Setting::find(host, versions, args.force)?;
    let isolation = Isolation::find();
    eprintln!("{}", isolation.describe());
    let place = Path::new(PLACE);
    let runner = Runner {
        site: Site::create(place, &SIZES, isolation)?,
        programs,
        record: place.join("record"),
        processors,
    };
    drop(
        runner
            .site
            .serve(Content::Nginx, SERVER_CPU)
            .context("the server to measure against does not start")?,
    );
    let mut runs = compare(&runner, &plan);
    let highest = pace(&runner, &plan, &mut runs);

    let results = Results { setting, isolation, plan, runs, highest };
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
                "--only {}: no such case; names are as 1k/keep-alive/64/wrk and pacing/50/poisson",
                self.only.as_deref().unwrap_or_default()
            );
        }
        if let Some(rounds) = self.rounds {
            (plan.rounds, plan.pacing_rounds) = (rounds, rounds);
        }
        if let Some(seconds) = self.seconds {
            (plan.seconds, plan.pacing_seconds) = (seconds, seconds);
        }
        Ok(plan)
    }
}

/// Versions of what takes part; that something is missing is found out here, not after ten minutes.
fn versions(plan: &Plan, programs: &Programs) -> anyhow::Result<Vec<String>> {
    let mut peers: Vec<_> = plan.cases.iter().flat_map(|(_, peers)| peers.iter().copied()).collect();
    peers.push(Peer::Headworks);
    peers.retain(|peer| *peer != Peer::HeadworksRecord);
    peers.sort();
    peers.dedup();
    let mut versions = peers
        .into_iter()
        .map(|peer| peer.version(programs).with_context(|| format!("{} is needed", peer.name())))
        .collect::<anyhow::Result<Vec<_>>>()?;
    versions.push(site::version().context("nginx is needed")?);
    Ok(versions)
}

/// Each round runs every generator once in every case, so that a slow minute of the machine
/// falls on all of them.
fn compare(runner: &Runner, plan: &Plan) -> Vec<Run> {
    let mut runs = Vec::new();
    for round in 0..plan.rounds {
        for (case, peers) in &plan.cases {
            for peer in rounds::order(peers, round) {
                runs.push(runner.compare(*case, peer, round, plan.seconds));
                progress(round, plan.rounds, runs.last());
            }
        }
    }
    runs
}

/// Runs at shares of the highest rate, which it returns.
fn pace(runner: &Runner, plan: &Plan, runs: &mut Vec<Run>) -> Option<f64> {
    if plan.paces.is_empty() {
        return None;
    }
    if rates(runs).next().is_none() {
        runs.push(runner.compare(Case::FIRST, Peer::Headworks, 0, plan.seconds));
        progress(0, 1, runs.last());
    }
    let Some(highest) = Spread::of(rates(runs)) else {
        eprintln!("no pacing: without a run of headworks in {} its highest rate is unknown", Case::FIRST);
        return None;
    };
    for round in 0..plan.pacing_rounds {
        for pacing in &plan.paces {
            let rate = (highest.median * f64::from(pacing.percent) / 100.0) as u64;
            runs.push(runner.pace(*pacing, rate, round, plan.pacing_seconds));
            progress(round, plan.pacing_rounds, runs.last());
        }
    }
    Some(highest.median)
}

fn rates(runs: &[Run]) -> impl Iterator<Item = f64> {
    let first = Case::FIRST.to_string();
    let ours = move |run: &&Run| run.case == first && run.generator == Peer::Headworks.name();
    runs.iter().filter(ours).filter_map(|run| run.good().map(|(told, _)| told.rate))
}

fn progress(round: u32, rounds: u32, run: Option<&Run>) {
    let Some(run) = run else { return };
    let head = format!("round {}/{rounds}  {:20} {:15}", round + 1, run.case, run.generator);
    match (run.good(), run.cpu_us(), &run.failure) {
        (Some((told, cost)), Some(us), _) => {
            eprintln!("{head} {us:8.2} us/request {:9.0} /s  others {:.0} %", told.rate, cost.others * 100.0);
        }
        (_, _, failure) => eprintln!("{head} {}", failure.as_deref().unwrap_or("no figure")),
    }
}
