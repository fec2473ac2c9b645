//! [`Simulator`]: how each is asked for the model, and how its answer is read.

use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::{Deserialize, Serialize};

/// The paper's server with bursts and a queue, as options of `headworks sim`; the others take the
/// same ones.
const MODEL: [(&str, &str); 8] = [
    ("--load", "1"),
    ("--cv", "3"),
    ("--dynamic", "0.2"),
    ("--dynamic-cost", "100"),
    ("--static-time", "5ms"),
    ("--service-cv", "0.6"),
    ("--threads", "25"),
    ("--queue", "66"),
];

/// Where the sources of the others are.
pub(super) const OTHERS: &str = "crates/bench/src/sim/others";
/// The processor on which everything runs that uses one.
pub(super) const CPU: &str = "1";

/// What simulates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Simulator {
    /// `headworks sim` on one core.
    Headworks,
    /// The same on all cores.
    AllCores,
    /// A C++ program with `std::priority_queue`.
    Plain,
    /// SimPy, with a process for each request.
    SimPyProcesses,
    /// SimPy, with the algorithm of the C++ program.
    SimPyCallbacks,
    Ciw,
}

/// How much of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Length {
    pub(super) replications: u32,
    /// Requests at the beginning of each that do not count.
    pub(super) warmup: u32,
    /// Requests of each that do.
    pub(super) requests: u32,
}

/// Where the programs are.
#[derive(Debug, Clone)]
pub(super) struct Programs {
    pub(super) headworks: PathBuf,
    /// Of an environment that has SimPy and Ciw.
    pub(super) python: PathBuf,
    /// What [`compile`] has made.
    pub(super) plain: PathBuf,
}

/// What a simulator says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Told {
    /// Arrivals and completions.
    pub(super) events: u64,
    /// Shares of requests, of independent stretches.
    pub(super) rejected: Vec<f64>,
    /// Mean latencies of the others in these, in seconds.
    pub(super) latency: Vec<f64>,
}

/// What `headworks sim --json` says.
#[derive(Debug, Deserialize)]
struct SimulationResult {
    rejected: Mean,
    latency: Latency,
    events: u64,
}

#[derive(Debug, Deserialize)]
struct Latency {
    mean: Mean,
}

#[derive(Debug, Deserialize)]
struct Mean {
    mean: f64,
}

impl Simulator {
    pub(super) const ALL: [Self; 6] =
        [Self::Headworks, Self::AllCores, Self::Plain, Self::SimPyProcesses, Self::SimPyCallbacks, Self::Ciw];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Headworks => "headworks sim",
            Self::AllCores => "headworks sim, all cores",
            Self::Plain => "C++, std::priority_queue",
            Self::SimPyProcesses => "SimPy, a process per request",
            Self::SimPyCallbacks => "SimPy, callbacks",
            Self::Ciw => "Ciw",
        }
    }

    /// The whole command line.
    pub(super) fn command(self, programs: &Programs, length: Length, seed: u32) -> Vec<String> {
        let mut command: Vec<String> = match self {
            Self::AllCores => Vec::new(),
            _ => ["taskset", "-c", CPU].map(str::to_owned).into(),
        };
        let mut add = |words: &[&str]| command.extend(words.iter().map(|word| (*word).to_owned()));
        let [headworks, plain, python] =
            [&programs.headworks, &programs.plain, &programs.python].map(|path| path.display().to_string());
        match self {
            Self::Headworks => add(&[&headworks, "sim", "--json", "--precision", "0", "--cores", "1"]),
            Self::AllCores => add(&[&headworks, "sim", "--json", "--precision", "0"]),
            Self::Plain => add(&[&plain]),
            Self::SimPyProcesses => add(&[&python, "-B", &format!("{OTHERS}/simpy_processes.py")]),
            Self::SimPyCallbacks => add(&[&python, "-B", &format!("{OTHERS}/simpy_callbacks.py")]),
            Self::Ciw => add(&[&python, "-B", &format!("{OTHERS}/with_ciw.py")]),
        }
        MODEL.iter().for_each(|(name, value)| add(&[name, value]));
        let Length { replications, warmup, requests } = length;
        for (name, value) in [
            ("--replications", replications),
            ("--warmup", warmup),
            ("--requests", requests),
            ("--seed", seed),
        ] {
            add(&[name, &value.to_string()]);
        }
        command
    }

    pub(super) fn read(self, stdout: &str) -> anyhow::Result<Told> {
        let told = match self {
            // It says how far its means may be off, but not what each replication had.
            Self::Headworks | Self::AllCores => {
                serde_json::from_str(stdout).map(|outcome: SimulationResult| Told {
                    events: outcome.events,
                    rejected: vec![outcome.rejected.mean],
                    latency: vec![outcome.latency.mean.mean],
                })
            }
            _ => serde_json::from_str(stdout),
        };
        told.with_context(|| format!("{} does not say what it should: {}", self.name(), stdout.trim()))
    }
}

/// Compiles the C++ program for this machine; gives what compiled it.
pub(super) fn compile(to: &Path) -> anyhow::Result<String> {
    let source = format!("{OTHERS}/plain.cpp");
    let options = ["-std=c++20", "-O3", "-march=native", "-Wall", "-Wextra", "-o"];
    let to = to.display().to_string();
    let words: Vec<&str> = options.into_iter().chain([to.as_str(), source.as_str()]).collect();
    testbed::succeeds("g++", &words).context("g++ is needed to compile the C++ program")?;
    let version = testbed::succeeds("g++", &["--version"])?;
    Ok(format!("{} with -O3 -march=native", version.lines().next().unwrap_or("g++")))
}

/// Versions of what is installed; an error when it is not.
pub(super) fn versions(programs: &Programs) -> anyhow::Result<Vec<String>> {
    const OF_PYTHON: &str = "import platform, importlib.metadata as of
print('Python', platform.python_version())
for name in ['SimPy', 'Ciw', 'line-solver']: print(name, of.version(name))";
    let headworks = testbed::succeeds(&programs.headworks.display().to_string(), &["--version"])?;
    let python =
        testbed::succeeds(&programs.python.display().to_string(), &["-c", OF_PYTHON]).with_context(|| {
            format!(
                "{} with SimPy, Ciw and LINE is needed; tools/need simulators installs it",
                programs.python.display()
            )
        })?;
    Ok(std::iter::once(headworks.as_str()).chain(python.lines()).map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_asked_for_the_same() {
        let programs =
            Programs { headworks: "headworks".into(), python: "python".into(), plain: "plain".into() };
        let length = Length { replications: 2, warmup: 100, requests: 1000 };
        let asked = Simulator::ALL.map(|simulator| {
            let words = simulator.command(&programs, length, 7).join(" ");
            words.split_once("--load").map(|(_, model)| model.to_owned()).unwrap()
        });
        assert!(asked.iter().all(|words| *words == asked[0]), "{asked:?}");
        assert!(asked[0].ends_with("--replications 2 --warmup 100 --requests 1000 --seed 7"), "{}", asked[0]);
        let alone = |simulator: Simulator| simulator.command(&programs, length, 7)[0] == "taskset";
        assert_eq!(Simulator::ALL.map(alone), [true, false, true, true, true, true]);
    }

    #[test]
    fn answers_are_read() {
        let ours = r#"{"rejected":{"mean":0.05,"ci":[0.04,0.06]},"latency":{"mean":{"mean":4.5,"ci":[4,5]},"p50":{"mean":1,"ci":[1,1]}},"events":390,"events_per_second":1e7}"#;
        let told = Told { events: 390, rejected: vec![0.05], latency: vec![4.5] };
        assert_eq!(Simulator::Headworks.read(ours).unwrap(), told);
        let theirs = r#"{"events": 390, "rejected": [0.04, 0.06], "latency": [4.0, 5.0]}"#;
        let told = Told { events: 390, rejected: vec![0.04, 0.06], latency: vec![4.0, 5.0] };
        assert_eq!(Simulator::SimPyProcesses.read(theirs).unwrap(), told);
        let error = Simulator::Ciw.read("Traceback\n").unwrap_err().to_string();
        assert_eq!(error, "Ciw does not say what it should: Traceback");
    }
}
