//! `bench sim`: how fast `headworks sim` is, beside other simulators of its model in one run.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use super::agreement;
use super::plan::Plan;
use super::run::{self, Run};
use super::simulator::{self, Programs, Simulator};
use super::table::Results;
use super::textbook;
use crate::harness::options::Target;
use crate::harness::rounds;
use crate::results::machine::Host;
use crate::results::page;
use crate::results::raw::{Places, Setting};

const PAGE: &str = "docs/benchmarks/sim.md";
const PLACES: Places =
    Places { page: PAGE, raw: "docs/benchmarks/raw/sim.json", passing: "target/bench/sim.json" };
/// Where the C++ program is compiled to, and what is not of record written.
const PLACE: &str = "target/bench";

/// Events per second of `headworks sim`, beside a plain C++ program, SimPy and Ciw; and what
/// they and LINE say of queues of which the mean is known.
///
/// A full run writes docs/benchmarks/sim.md and raw/sim.json beside it; with --quick the table is only printed, and the raw results go below target/bench.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Two short rounds, to see whether it works.
    #[arg(long)]
    quick: bool,
    /// How often each simulator runs.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=100))]
    rounds: Option<u32>,
    #[command(flatten)]
    target: Target,
    /// A Python with SimPy, Ciw and LINE.
    #[arg(long, value_name = "FILE", default_value = ".tools/simulators/bin/python")]
    python: PathBuf,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    page::must_be_here(PAGE)?;
    let host = Host::describe();
    if host.processors < 2 {
        bail!("this compares one core with all of them, and the machine has one");
    }
    let place = Path::new(PLACE);
    std::fs::create_dir_all(place).with_context(|| format!("cannot make {PLACE}"))?;
    let programs = Programs {
        headworks: args.target.headworks.clone(),
        python: args.python.clone(),
        plain: place.join("plain"),
    };
    let mut versions = simulator::versions(&programs)?;
    versions.push(simulator::compile(&programs.plain)?);
    let processors = host.processors;
    let setting = Setting::find(host, versions, args.target.force)?;

    let mut plan = if args.quick { Plan::quick() } else { Plan::full() };
    plan.rounds = args.rounds.unwrap_or(plan.rounds);
    let runs = measure(&plan, &programs, processors);
    let answers = textbook::answer::all(&programs);
    let results = Results { setting, plan, runs, answers };
    PLACES.keep(results.plan.of_record, &results.to_markdown(), &results.about_all(), &results.runs)
}

/// Each round runs every simulator once, so that a slow minute of the machine falls on all of them.
fn measure(plan: &Plan, programs: &Programs, processors: u32) -> Vec<Run> {
    let mut runs = Vec::new();
    for round in 0..plan.rounds {
        for simulator in rounds::order(&Simulator::ALL, round) {
            let run = run::measure(simulator, plan, programs, round, processors);
            progress(round, plan.rounds, &run);
            runs.push(run);
        }
    }
    agreement::check(&mut runs);
    runs
}

fn progress(round: u32, rounds: u32, run: &Run) {
    let head = format!("round {}/{rounds}  {:24}", round + 1, run.simulator);
    match (run.speed(), run.cost, &run.failure) {
        (Some(speed), Some(cost), None) => {
            let (million, others) = (speed / 1e6, cost.others * 100.0);
            eprintln!("{head} {million:7.3} million events/s  {:5.1} s  others {others:.0} %", cost.wall_s);
        }
        (_, _, failure) => eprintln!("{head} {}", failure.as_deref().unwrap_or("no figure")),
    }
}
