//! `bench load`: what a request costs `headworks load`, beside other generators in the same run.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use stats::Spread;

use super::case::{Case, LoadPlan, Pacing, SIZES};
use super::run::{Run, Runner};
use super::table::Results;
use crate::generators::generator::{Generator, Programs};
use crate::harness::conditions::{Conditions, Needs};
use crate::harness::options::Options;
use crate::harness::plan::Plan;
use crate::results::raw::Places;
use crate::servers::server::SERVER_CPU;
use crate::servers::site::{self, Content, Site};

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
    #[command(flatten)]
    options: Options,
    /// Where shb is.
    #[arg(long, value_name = "FILE", default_value = ".tools/bin/shb")]
    shb: PathBuf,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let plan = args.plan()?;
    let programs = Programs { headworks: args.options.target.headworks.clone(), shb: args.shb.clone() };
    let needs = Needs {
        page: PAGE,
        descriptors: DESCRIPTORS,
        processors: "server and generator need a processor each",
    };
    let conditions = Conditions::find(&needs, versions(&plan.plan, &programs), args.options.target.force)?;
    let place = Path::new(PLACE);
    let runner = Runner {
        site: Site::create(place, &SIZES, conditions.isolation)?,
        programs,
        record: place.join("record"),
        processors: conditions.processors(),
    };
    drop(
        runner
            .site
            .serve(Content::Nginx, SERVER_CPU)
            .context("the server to measure against does not start")?,
    );
    let mut runs = plan.plan.saturate(
        |case, generator, round, seconds| runner.compare(case, generator, round, seconds),
        progress,
    );
    let highest = pace(&runner, &plan, &mut runs);

    let results = Results { conditions, plan, runs, highest };
    let of_record = results.plan.plan.of_record;
    PLACES.keep(of_record, &results.to_markdown(), &results.about_all(), &results.runs)
}

impl Args {
    fn plan(&self) -> anyhow::Result<LoadPlan> {
        let mut plan = if self.options.quick { LoadPlan::quick() } else { LoadPlan::full() };
        if let Some(pattern) = &self.options.only {
            plan.keep_only(pattern);
        }
        if plan.is_empty() {
            bail!(
                "--only {}: no such case; names are as 1k/keep-alive/64/wrk and pacing/50/poisson",
                self.options.only.as_deref().unwrap_or_default()
            );
        }
        plan.plan.saturation = self.options.effort(plan.plan.saturation);
        plan.plan.open_loop = self.options.effort(plan.plan.open_loop);
        Ok(plan)
    }
}

/// Versions of what takes part; that something is missing is found out here, not after ten minutes.
fn versions(plan: &Plan<Case, Generator>, programs: &Programs) -> anyhow::Result<Vec<String>> {
    let mut peers: Vec<_> = plan.cases.iter().flat_map(|(_, peers)| peers.iter().copied()).collect();
    peers.push(Generator::Headworks);
    peers.retain(|peer| *peer != Generator::HeadworksRecord);
    peers.sort();
    peers.dedup();
    let mut versions = peers
        .into_iter()
        .map(|peer| peer.version(programs).with_context(|| format!("{} is needed", peer.name())))
        .collect::<anyhow::Result<Vec<_>>>()?;
    versions.push(site::version().context("nginx is needed")?);
    Ok(versions)
}

/// Runs at shares of the highest rate, which it returns.
fn pace(runner: &Runner, plan: &LoadPlan, runs: &mut Vec<Run>) -> Option<f64> {
    if plan.paces.is_empty() {
        return None;
    }
    if rates(runs).next().is_none() {
        let run = runner.compare(Case::FIRST, Generator::Headworks, 0, plan.plan.saturation.seconds);
        progress(0, 1, &run);
        runs.push(run);
    }
    let Some(highest) = Spread::of(rates(runs)) else {
        eprintln!("no pacing: without a run of headworks in {} its highest rate is unknown", Case::FIRST);
        return None;
    };
    let measure = |pacing: Pacing, round, seconds| {
        let rate = (highest.median * f64::from(pacing.percent) / 100.0) as u64;
        runner.pace(pacing, rate, round, seconds)
    };
    runs.extend(plan.plan.pace(&plan.paces, measure, progress));
    Some(highest.median)
}

fn rates(runs: &[Run]) -> impl Iterator<Item = f64> {
    let first = Case::FIRST.to_string();
    let ours = move |run: &&Run| run.case == first && run.generator == Generator::Headworks.name();
    runs.iter().filter(ours).filter_map(|run| run.good().map(|(told, _)| told.rate))
}

fn progress(round: u32, rounds: u32, run: &Run) {
    let head = format!("round {}/{rounds}  {:20} {:15}", round + 1, run.case, run.generator);
    match (run.good(), run.cpu_us(), &run.failure) {
        (Some((told, cost)), Some(us), _) => {
            eprintln!("{head} {us:8.2} us/request {:9.0} /s  others {:.0} %", told.rate, cost.others * 100.0);
        }
        (_, _, failure) => eprintln!("{head} {}", failure.as_deref().unwrap_or("no figure")),
    }
}
