//! [`Answer`]: what a solver says of a queue, and what that cost.

use std::process::Command;

use anyhow::bail;
use serde::{Deserialize, Serialize};
use stats::MeanEstimate;

use super::queue::Queue;
use super::solver::Solver;
use crate::sim::run::DEADLINE;
use crate::sim::simulator::Programs;

/// One answer, as it is kept.
#[derive(Debug, Clone, Serialize)]
pub(in crate::sim) struct Answer {
    pub(super) queue: &'static str,
    pub(super) solver: &'static str,
    command: String,
    /// Processor time from start to exit, s.
    pub(super) cpu_s: f64,
    pub(super) found: Result<Found, String>,
    pub(super) known: Figures,
}

/// The share that is rejected, and the mean time in the system, s.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct Figures {
    pub(super) rejected: f64,
    pub(super) latency: f64,
}

/// And half of the 95 % interval of the mean, where it is left to chance and that is told.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct Found {
    #[serde(flatten)]
    pub(super) figures: Figures,
    pub(super) within: Option<f64>,
}

/// What `headworks sim --json` and `sim exact --json` say of these.
#[derive(Deserialize)]
struct Ours {
    rejected: Figure,
    latency: Latency,
}

/// That of an exact solution is the mean alone.
#[derive(Deserialize)]
#[serde(untagged)]
enum Latency {
    Mean(f64),
    Distribution { mean: Figure },
}

impl Latency {
    fn mean(&self) -> Figure {
        match *self {
            Self::Mean(mean) | Self::Distribution { mean: Figure::Exact(mean) } => Figure::Exact(mean),
            Self::Distribution { mean: Figure::Estimate { mean, ci } } => Figure::Estimate { mean, ci },
        }
    }
}

#[derive(Clone, Copy, Deserialize)]
#[serde(untagged)]
enum Figure {
    Exact(f64),
    Estimate {
        mean: f64,
        #[serde(default)]
        ci: Option<[f64; 2]>,
    },
}

/// What the programs in Python say.
#[derive(Deserialize)]
struct Theirs {
    rejected: Vec<f64>,
    latency: Vec<f64>,
}

impl Figure {
    fn mean(&self) -> f64 {
        match self {
            Self::Exact(value) | Self::Estimate { mean: value, .. } => *value,
        }
    }

    fn within(&self) -> Option<f64> {
        match self {
            Self::Estimate { ci: Some([least, most]), .. } => Some((most - least) / 2.0),
            _ => None,
        }
    }
}

/// Asks every solver for every queue that it takes.
pub(in crate::sim) fn all(programs: &Programs) -> Vec<Answer> {
    let pairs = Queue::ALL.into_iter().flat_map(|queue| Solver::ALL.map(|solver| (queue, solver)));
    pairs
        .filter(|(queue, solver)| solver.takes(*queue))
        .map(|(queue, solver)| ask(programs, queue, solver))
        .collect()
}

fn ask(programs: &Programs, queue: Queue, solver: Solver) -> Answer {
    let words = solver.command(programs, queue);
    let (rejected, latency) = queue.known();
    let mut answer = Answer {
        queue: queue.name(),
        solver: solver.name(),
        command: testbed::quote(&words),
        cpu_s: f64::NAN,
        found: Err(String::new()),
        known: Figures { rejected, latency },
    };
    let found = || -> anyhow::Result<(f64, Found)> {
        let ended = testbed::run(Command::new(&words[0]).args(&words[1..]), DEADLINE)?;
        if !ended.status.success() {
            bail!("{}: {}", ended.status, ended.stderr.trim());
        }
        Ok(((ended.user + ended.system).as_secs_f64(), read(solver, &ended.stdout)?))
    };
    match found() {
        Ok((cpu_s, found)) => (answer.cpu_s, answer.found) = (cpu_s, Ok(found)),
        Err(why) => answer.found = Err(format!("{why:#}")),
    }
    answer
}

fn read(solver: Solver, stdout: &str) -> anyhow::Result<Found> {
    if matches!(solver, Solver::Exact | Solver::Simulated) {
        let Ours { rejected, latency } = serde_json::from_str(stdout)?;
        let latency = latency.mean();
        let figures = Figures { rejected: rejected.mean(), latency: latency.mean() };
        return Ok(Found { figures, within: latency.within() });
    }
    let Theirs { rejected, latency } = serde_json::from_str(stdout)?;
    let stretches = latency.len();
    let [rejected, latency] = [rejected, latency].map(MeanEstimate::of);
    let figures = Figures { rejected: rejected.mean, latency: latency.mean };
    Ok(Found { figures, within: (stretches > 1).then(|| latency.half_width()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read() {
        let theirs = r#"{"events": 0, "rejected": [0.0], "latency": [5.0]}"#;
        let figures = Figures { rejected: 0.0, latency: 5.0 };
        assert_eq!(read(Solver::LineMva, theirs).unwrap(), Found { figures, within: None });
        let ours = r#"{"rejected": {"mean": 0, "ci": [0, 0]}, "latency": {"mean": {"mean": 5.0, "ci": [4.5, 5.5]}}}"#;
        assert_eq!(read(Solver::Simulated, ours).unwrap(), Found { figures, within: Some(0.5) });
        let exact = r#"{"solution": "M/M/1", "rejected": 0.0, "latency": 5.0}"#;
        assert_eq!(read(Solver::Exact, exact).unwrap(), Found { figures, within: None });
        assert!(read(Solver::Ciw, "Traceback").is_err());
    }
}
