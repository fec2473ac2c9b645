//! `headworks sim sweep` and `headworks sim figures`: many simulations, resumed and shared out.

use std::io::{Write, stdout};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::Context;
use config::Source;
use indicatif::ProgressBar;
use report::Document;
use sim::sweep::{Options, Progress, Shard, Spec, imprecise, run};

use super::view::View;
use crate::exit::{Exit, Failure};
use crate::signals;
use crate::values::count;

/// Simulates a model at every point of a grid of its parameters.
///
/// Points are written as soon as they are known: a sweep that was interrupted goes on where it stopped when it is started again with the same spec and --out.
#[derive(Debug, clap::Args)]
pub(super) struct SweepArgs {
    /// The spec, a TOML file (docs/sim.md).
    spec: PathBuf,
    /// Where to write the points and the report.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Compute only the I-th of N shares of the points; start one for each I, all with the same --out.
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    #[command(flatten)]
    common: Common,
}

/// Repeats figures 1 to 15 and table 1 of "Web server performance under heavy loads", and checks what it says about them.
#[derive(Debug, clap::Args)]
pub(super) struct FiguresArgs {
    /// Where to write the points and the report.
    #[arg(long, value_name = "DIR", default_value = "runs/heavy-loads")]
    out: PathBuf,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, clap::Args)]
struct Common {
    /// Simulate less, as the section "quick" of the spec says.
    #[arg(long)]
    quick: bool,
    /// Processors to simulate on (default: all); the outcome does not depend on it.
    #[arg(long, value_name = "N", value_parser = count::<NonZeroUsize>(1..=10_000))]
    cores: Option<NonZeroUsize>,
    /// Print what the report shows as one JSON object.
    #[arg(long)]
    json: bool,
    /// Show no progress.
    #[arg(long, short)]
    quiet: bool,
}

macro_rules! specs {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!(
            env!("CARGO_MANIFEST_DIR"), "/../../experiments/heavy-loads/", $name, ".toml"
        )))),*]
    };
}

/// What the paper's figures are made by.
const HEAVY_LOADS: [(&str, &str); 10] = specs![
    "networks",
    "short-queues",
    "long-queues",
    "from-empty",
    "trade-off",
    "trade-off-load",
    "cost",
    "table-1",
    "threads",
    "discipline",
];

impl SweepArgs {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        let directory = self.spec.parent().unwrap_or(Path::new("."));
        let spec = Spec::parse(&Source::read(&self.spec)?, directory, self.common.quick)?;
        self.common.run(&[(spec, self.out.clone())], &self.out, self.shard)
    }
}

impl FiguresArgs {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        let mut sweeps = Vec::new();
        for (name, text) in HEAVY_LOADS {
            let source = Source::new(format!("experiments/heavy-loads/{name}.toml"), text);
            sweeps.push((Spec::parse(&source, Path::new("."), self.common.quick)?, self.out.join(name)));
        }
        self.common.run(&sweeps, &self.out, None)
    }
}

impl Common {
    fn run(self, sweeps: &[(Spec, PathBuf)], out: &Path, shard: Option<Shard>) -> Result<Exit, Failure> {
        let view = View::new("points", self.quiet);
        end_on_signals(view.bar(), out.to_owned()).map_err(Failure::Failed)?;
        let options = Options { shard, cores: self.cores };
        let tell = |Progress { done, left, .. }| view.tell(done, done + left);
        let progress = run(sweeps, options, &tell).map_err(|why| Failure::new(why.is_usage(), why))?;
        view.end();
        if progress.elsewhere > 0 {
            eprintln!(
                "{} points are for other shards; the report shows all once they are there too",
                progress.elsewhere
            );
        }
        let report = Document::read(out).map_err(|why| Failure::new(why.is_usage(), why))?;
        let page = report.write(out).map_err(|why| Failure::Failed(why.into()))?;
        let text = if self.json {
            serde_json::to_string(&report).map_err(|why| Failure::Failed(why.into()))? + "\n"
        } else {
            format!("{}\nreport: {}\n", report.table(), page.display())
        };
        stdout()
            .write_all(text.as_bytes())
            .context("cannot write to standard output")
            .map_err(Failure::Failed)?;
        self.verdict(sweeps)
    }

    /// A quick look does not have to be precise.
    fn verdict(&self, sweeps: &[(Spec, PathBuf)]) -> Result<Exit, Failure> {
        let mut exit = Exit::Ok;
        for (_, path) in sweeps.iter().filter(|_| !self.quick) {
            let points = imprecise(path).map_err(|why| Failure::new(why.is_usage(), why))?;
            if points > 0 {
                eprintln!(
                    "{}: {points} points are not as precise as asked for (false in their column \"precise\"); give [plan] more replications, or another precision, and the sweep another directory",
                    path.display()
                );
                exit = Exit::NotValid;
            }
        }
        Ok(exit)
    }
}

/// Ends at once on SIGINT and SIGTERM: points are written in one step, so what is done stays.
fn end_on_signals(bar: ProgressBar, out: PathBuf) -> anyhow::Result<()> {
    signals::on_each(move |signal| {
        bar.abandon();
        eprintln!("stopped; {} keeps what is done, and the same command goes on from there", out.display());
        std::process::exit(128 + i32::from(signal));
    })
}
