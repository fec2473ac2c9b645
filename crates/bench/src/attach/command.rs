//! `bench attach`: what a server carries that the gate is attached to, beside the bare server and proxies in front.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use super::case::{Case, SIZE};
use super::run::{Run, Runner};
use super::subject::{Place, Subject};
use super::table::Results;
use crate::generators::generator::{Generator, Programs};
use crate::harness::conditions::{Conditions, Needs};
use crate::harness::options::Options;
use crate::harness::plan::{Effort, Plan};
use crate::results::machine;
use crate::results::raw::Places;
use crate::servers::site::Site;

const PAGE: &str = "docs/benchmarks/attach.md";
const PLACES: Places =
    Places { page: PAGE, raw: "docs/benchmarks/raw/attach.json", passing: "target/bench/attach.json" };
const PLACE: &str = "target/bench";
const DESCRIPTORS: u64 = 2_048;

/// Requests per second of nginx and Apache, bare, with the gate attached, and behind the gate and HAProxy.
///
/// A run of everything writes docs/benchmarks/attach.md and raw/attach.json beside it; with --quick or --only the table is only printed, and the raw results go below target/bench.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    options: Options,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    machine::must_be_root(
        "a gate is attached to servers of its own user alone, and Apache's processes have another",
    )?;
    let plan = args.plan()?;
    let headworks = &args.options.target.headworks;
    let needs = Needs {
        page: PAGE,
        descriptors: DESCRIPTORS,
        processors: "server and generator need a processor each",
    };
    let conditions = Conditions::find(&needs, versions(headworks), args.options.target.force)?;
    let runner = Runner {
        site: Site::create(Path::new(PLACE), &[SIZE], conditions.isolation)?,
        place: Place::create(Path::new(PLACE), headworks, conditions.isolation)?,
        headworks: headworks.clone(),
        processors: conditions.processors(),
    };
    let runs = plan
        .saturate(|case, subject, round, seconds| runner.saturate(case, subject, round, seconds), progress);
    let results = Results { conditions, plan, runs };
    PLACES.keep(results.plan.of_record, &results.to_markdown(), &results.about_all(), &results.runs)
}

impl Args {
    fn plan(&self) -> anyhow::Result<Plan<Case, Subject>> {
        let effort = if self.options.quick { (2, 1) } else { (9, 4) };
        let effort = self.options.effort(Effort { rounds: effort.0, seconds: effort.1 });
        let cases = Case::all().into_iter().map(|case| (case, Subject::of(case.window)));
        let mut plan = Plan {
            cases: cases.collect(),
            saturation: effort,
            open_loop: effort,
            of_record: !self.options.quick,
        };
        if let Some(pattern) = &self.options.only {
            plan.keep_only(pattern, Subject::name);
            if plan.cases.is_empty() {
                bail!("--only {pattern}: no such case; names are as nginx/keep-alive/open/attached");
            }
        }
        Ok(plan)
    }
}

/// Versions of what takes part: that something is missing is found out here, not after ten minutes.
fn versions(headworks: &Path) -> anyhow::Result<Vec<String>> {
    let programs = Programs { headworks: headworks.to_owned(), shb: PathBuf::new() };
    let first = |program: &str, arguments: &[&str]| {
        let said = testbed::says(program, arguments).with_context(|| format!("{program} is needed"))?;
        let line = said.lines().next().unwrap_or_default();
        anyhow::Ok(line.split(" - ").next().unwrap_or_default().trim().to_owned())
    };
    Ok(vec![
        first(&headworks.display().to_string(), &["--version"])?,
        Generator::Wrk.version(&programs).context("wrk is needed")?,
        first("apache2", &["-v"])?.trim_start_matches("Server version: ").to_owned(),
        crate::servers::site::version()?,
        first("haproxy", &["-v"])?,
    ])
}

fn progress(round: u32, rounds: u32, run: &Run) {
    let head = format!("round {}/{rounds}  {:24} {:8}", round + 1, run.case, run.subject);
    match (&run.failure, run.rate(), run.cpu_us()) {
        (Some(failure), ..) => eprintln!("{head} {failure}"),
        (_, Some(rate), Some(us)) => eprintln!("{head} {rate:9.0} /s {us:8.2} us/request beside the server"),
        _ => eprintln!("{head} no figure"),
    }
}
