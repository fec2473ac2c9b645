//! `bench verdict`: whether the bottleneck that `headworks lab` names is the one that was planted.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, bail};
use record::experiment::Experiment;
use record::search::Relief;
use serde_json::Value;

use super::case::{Case, POPULATIONS, Population};
use super::run::{Relieved, Run};
use super::table::{self, Results};
use crate::harness::options::Target;
use crate::results::machine::{self, Host};
use crate::results::page;
use crate::results::raw::{Places, Setting};

const PAGE: &str = "docs/benchmarks/verdict.md";
const PLACES: Places =
    Places { page: PAGE, raw: "docs/benchmarks/raw/verdict.json", passing: "target/bench/verdict.json" };
/// Records of the searches.
const RECORDS: &str = "target/bench/verdict";
const SEEDS: u64 = 3;
/// A search ends after 150 s at the latest; one that breaks is made twice.
const SEARCH_TIMEOUT: Duration = Duration::from_secs(600);

/// Plants causes on real servers, and looks which ones `headworks lab` names.
///
/// A run of all of it, some hours, writes docs/benchmarks/verdict.md and raw/verdict.json beside it; otherwise the table is only printed, and the raw results go below target/bench. It needs root.
/// A verdict is made from nothing but the record, so that `--again` judges as a new search with the same record would be.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only where this cause is planted, or only this spec, by the name of its file; can be given several times.
    #[arg(long, value_name = "NAME")]
    cause: Vec<String>,
    /// Only this kind of server.
    #[arg(long, value_name = "NAME")]
    server: Option<String>,
    /// Only what is below this directory, such as experiments/causes/open.
    #[arg(long, value_name = "DIR")]
    population: Option<PathBuf>,
    /// With how many seeds each.
    #[arg(long, value_name = "N", default_value_t = SEEDS, value_parser = clap::value_parser!(u64).range(1..=100))]
    seeds: u64,
    /// Judge the records that are below target/bench/verdict anew, instead of searching again.
    #[arg(long)]
    again: bool,
    /// Where what is named was planted and the lab can change something of it, relieve it and search again; and then what is next likely, alone.
    #[arg(long)]
    confirm: bool,
    #[command(flatten)]
    target: Target,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    page::must_be_here(PAGE)?;
    machine::must_be_root("namespaces and control groups need root")?;
    let all = POPULATIONS.into_iter().map(Population::cases).collect::<anyhow::Result<Vec<_>>>()?.concat();
    let is_of = |case: &Case, name: &String| case.spec == *name || case.planted.contains(name);
    if let Some(other) = args.cause.iter().find(|name| !all.iter().any(|case| is_of(case, name))) {
        bail!(
            "\"{other}\" is not a cause that is planted, nor a spec; see experiments/verdict and experiments/causes"
        );
    }
    let headworks = args.target.headworks.to_str().context("the program's name is not UTF-8")?;
    let versions = vec![testbed::says(headworks, &["--version"])?.trim().to_owned()];
    let setting = Setting::find(Host::describe(), versions, args.target.force)?;
    let is_wanted = |case: &&Case| {
        (args.cause.is_empty() || args.cause.iter().any(|name| is_of(case, name)))
            && args.server.as_ref().is_none_or(|name| *name == case.server)
            && args.population.as_ref().is_none_or(|place| case.path().starts_with(place))
    };
    let cases: Vec<&Case> = all.iter().filter(is_wanted).collect();
    let mut runs = Vec::new();
    for seed in 1..=args.seeds {
        for case in &cases {
            let run = if args.again {
                judge(case, seed, &args.target.headworks)?
            } else {
                search(case, seed, &args.target.headworks)?
            };
            let run = if args.confirm { confirm(case, run, &args.target.headworks)? } else { run };
            eprintln!("{}", table::progress(&run));
            runs.push(run);
        }
    }
    let of_record = cases.len() == all.len() && args.seeds >= SEEDS;
    let results = Results { setting, runs, again: args.again };
    PLACES.keep(of_record, &results.to_markdown(), &results.about(), &results.runs)
}

fn search(case: &Case, seed: u64, headworks: &Path) -> anyhow::Result<Run> {
    let out = record_of(case, seed);
    if out.exists() {
        fs::remove_dir_all(&out).with_context(|| format!("cannot remove {}", out.display()))?;
    }
    let mut command = Command::new(headworks);
    command.args(["lab", "run", "--quiet", "--json", "--seed", &seed.to_string()]).arg(case.path());
    command.args(case.settings.iter().flat_map(|setting| ["--set", setting])).arg("--out").arg(&out);
    let ended = testbed::run(&mut command, SEARCH_TIMEOUT)?;
    let said: Value = serde_json::from_str(&ended.stdout).unwrap_or_default();
    let experiment: Option<Experiment> = serde_json::from_str(&ended.stdout).ok();
    let run = told(case, seed, experiment.as_ref(), Some(&said));
    let has_test = experiment.is_some_and(|experiment| !experiment.tests.is_empty());
    let failure = if has_test { run.failure } else { Some(ended.stderr.trim().to_owned()) };
    Ok(Run { seconds: ended.wall.as_secs_f64(), failure, ..run })
}

fn record_of(case: &Case, seed: u64) -> PathBuf {
    Path::new(RECORDS).join(format!("{}-{seed}", case.name()))
}

/// The verdict on a search that was made before.
fn judge(case: &Case, seed: u64, headworks: &Path) -> anyhow::Result<Run> {
    let out = record_of(case, seed);
    let experiment = Experiment::load(&out).context("search first, without --again")?;
    let mut command = Command::new(headworks);
    command.args(["lab", "verdict", "--json"]).arg(&out);
    let ended = testbed::run(&mut command, SEARCH_TIMEOUT)?;
    let said: Value = serde_json::from_str(&ended.stdout).unwrap_or_default();
    let found = said["tests"].as_object().and_then(|tests| tests.values().next());
    let run = told(case, seed, Some(&experiment), found);
    let failure = if found.is_none() { Some(ended.stderr.trim().to_owned()) } else { run.failure };
    Ok(Run { failure, ..run })
}

/// Relieves what was named, if it is right, and what is next likely.
fn confirm(case: &Case, run: Run, headworks: &Path) -> anyhow::Result<Run> {
    let Some(named) = run.found.clone().filter(|_| run.is_right()) else { return Ok(run) };
    let relieve = |name: &str| relieve(&record_of(case, run.seed), name, headworks);
    let relieved = relieve(&named)?;
    let next = run.candidates.iter().map(|(name, _)| name).find(|name| !run.planted.contains(name));
    let runner_up = next.filter(|_| relieved.is_some()).map(|name| relieve(name)).transpose()?.flatten();
    Ok(Run { relieved, runner_up, ..run })
}

/// Nothing where the lab can change nothing of it, or found no capacity then.
fn relieve(record: &Path, name: &str, headworks: &Path) -> anyhow::Result<Option<Relieved>> {
    let mut command = Command::new(headworks);
    command.args(["lab", "verdict", "--json", "--relieve", name]).arg(record);
    let ended = testbed::run(&mut command, SEARCH_TIMEOUT)?;
    // Where there is no lever the error is the user's.
    if ended.status.code() == Some(2) {
        return Ok(None);
    }
    let said: Value = serde_json::from_str(&ended.stdout)
        .with_context(|| format!("{name} could not be relieved: {}", ended.stderr.trim()))?;
    let reliefs: Vec<Relief> = serde_json::from_value(said["reliefs"].clone())?;
    let times = reliefs.first().and_then(Relief::times);
    Ok(times.map(|times| Relieved { name: name.to_owned(), times }))
}

/// What the experiment says of its search, and what was `said` of its bottleneck.
fn told(case: &Case, seed: u64, experiment: Option<&Experiment>, said: Option<&Value>) -> Run {
    let test = experiment.and_then(|experiment| experiment.tests.first());
    let capacity = test.and_then(|test| test.capacity.as_ref());
    let length = experiment.and_then(|it| Some(it.ended?.duration_since(it.started).as_secs_f64()));
    let candidates = said.and_then(|said| said["candidates"].as_array());
    let candidate = |one: &Value| Some((one["name"].as_str()?.to_owned(), one["probability"].as_f64()?));
    Run {
        population: case.population.name,
        spec: case.spec.clone(),
        planted: case.planted.clone(),
        server: case.server.clone(),
        seed,
        searched: experiment.map(|experiment| experiment.started.to_string()),
        found: said.and_then(|said| said["bottleneck"].as_str()).map(str::to_owned),
        candidates: candidates
            .into_iter()
            .flatten()
            .filter_map(candidate)
            .filter(|(_, likely)| *likely > 0.0)
            .collect(),
        capacity: capacity.and_then(|capacity| capacity.rate),
        seconds: length.unwrap_or_default(),
        relieved: None,
        runner_up: None,
        failure: test.filter(|_| capacity.is_none()).map(|test| test.why.join("; ")),
    }
}
