//! `bench watch`: what it costs a saturated server to be watched.

use std::path::{Path, PathBuf};

use super::run::{Run, Runner};
use super::subject::{SIZE, Subject};
use super::table::Results;
use super::watcher::Watcher;
use crate::generators::generator::{Generator, Programs};
use crate::harness::conditions::{Conditions, Needs};
use crate::harness::options::Target;
use crate::results::machine;
use crate::results::raw::Places;
use crate::servers::site::Site;

const PAGE: &str = "docs/benchmarks/watch.md";
const PLACES: Places =
    Places { page: PAGE, raw: "docs/benchmarks/raw/watch.json", passing: "target/bench/watch.json" };
const PLACE: &str = "target/bench";

const DESCRIPTORS: u64 = 2_048;
/// Rounds and seconds of a run of record.
const ROUNDS: u32 = 10;
const SECONDS: u32 = 5;

/// Throughput of a saturated Apache, nginx, and nginx over TLS without a monitor, and that `headworks watch`, bpftrace and sysstat watch by turns.
///
/// A run of all of it writes docs/benchmarks/watch.md and raw/watch.json beside it; with --quick the table is only printed, and the raw results go below target/bench.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Two short rounds, to see whether it works.
    #[arg(long)]
    quick: bool,
    /// How often there is a fresh server of each kind, and each of them watches it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: Option<u32>,
    /// How long each turn takes.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=600))]
    seconds: Option<u32>,
    #[command(flatten)]
    target: Target,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    machine::must_be_root("programs in the kernel need root")?;
    let (rounds, seconds) = if args.quick { (2, 2) } else { (ROUNDS, SECONDS) };
    let (rounds, seconds) = (args.rounds.unwrap_or(rounds), args.seconds.unwrap_or(seconds));
    let programs = Programs { headworks: args.target.headworks.clone(), shb: PathBuf::new() };
    let needs = Needs {
        page: PAGE,
        descriptors: DESCRIPTORS,
        processors: "server and generator need a processor each",
    };
    let Conditions { setting, isolation } = Conditions::find(&needs, versions(&programs), args.target.force)?;
    let runner = Runner {
        site: Site::create(Path::new(PLACE), &[SIZE], isolation)?,
        programs,
        seconds,
        complaints: Path::new(PLACE).join("watcher"),
    };
    let mut runs: Vec<Run> = Vec::new();
    for round in 0..rounds {
        for subject in Subject::ALL {
            for run in runner.round(subject, &Watcher::turns(round), round)? {
                progress(&run, rounds);
                runs.push(run);
            }
        }
    }
    let of_record = !args.quick && rounds >= ROUNDS;
    let results = Results { setting, seconds, runs };
    PLACES.keep(of_record, &results.to_markdown(), &results.about(), &results.rows()?)
}

fn progress(run: &Run, rounds: u32) {
    let Run { round, subject, watcher, .. } = run;
    let head = format!("round {}/{rounds}  {:8} {:30}", round + 1, subject.name(), watcher.name());
    match (run.rate, run.beside, &run.failure) {
        (Some(rate), Some(beside), _) => eprintln!("{head} {rate:9.0} /s, {:.3} of unwatched", rate / beside),
        (Some(rate), None, _) => eprintln!("{head} {rate:9.0} /s"),
        (None, _, failure) => eprintln!("{head} {}", failure.as_deref().unwrap_or("no figure")),
    }
}

/// That something is missing is found out here, not after ten minutes.
fn versions(programs: &Programs) -> anyhow::Result<Vec<String>> {
    let first = |program: &str, arguments: &[&str]| {
        let said = testbed::says(program, arguments)?;
        anyhow::Ok(said.lines().next().unwrap_or_default().trim().to_owned())
    };
    Ok(vec![
        Generator::Headworks.version(programs)?,
        Generator::Wrk.version(programs)?,
        first("apache2", &["-v"])?.trim_start_matches("Server version: ").to_owned(),
        crate::servers::site::version()?,
        first("bpftrace", &["--version"])?,
        first("sar", &["-V"])?,
    ])
}
