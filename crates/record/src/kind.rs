//! [`Kind`]: what a directory is, decided by the files in it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::directory::RunDirectory;
use crate::experiment::Experiment;
use crate::prediction::Prediction;
use crate::search::{SearchResult, WATCH};
use crate::sweep::SweepDirectory;

/// Tools as `run.toml` names them.
const SIMULATOR: &str = "sim";
const MONITOR: &str = "watch";

/// What a directory is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// An experiment whose tests are runs at given loads, or whose index cannot be read.
    Experiment,
    /// An experiment whose tests are searches for capacity.
    Searches,
    /// A search for capacity.
    Search,
    /// A run of the simulator.
    Simulation,
    /// A sweep of the simulator.
    Sweep,
    /// A run of the monitor.
    Watch,
    /// What the simulator predicts, beside what was measured.
    Prediction,
    /// Sweeps in the directories in it.
    Sweeps,
    /// Runs of the monitor below it: in its own `watch`, or side by side in `NAME/watch`. It may be a run that was
    /// watched.
    Watches,
    /// A run of the load generator, or of a tool that is not known.
    Run,
}

impl Kind {
    /// What `directory` is; nothing where it holds no record. Its own index counts before its `run.toml`, since an
    /// experiment has both, and what is in it before what is in the directories below.
    pub fn of(directory: &Path) -> Option<Self> {
        if Experiment::is_in(directory) {
            // Given loads are the first factor of an experiment; what searches for them has none there.
            let of_searches = |experiment: Experiment| experiment.factor.name.is_empty();
            let is_of_searches = Experiment::load(directory).is_ok_and(of_searches);
            return Some(if is_of_searches { Self::Searches } else { Self::Experiment });
        }
        if SearchResult::is_in(directory) {
            return Some(Self::Search);
        }
        let run = RunDirectory::open(directory).ok();
        let tool = run.as_ref().and_then(|run| run.info().ok()).map(|info| info.tool);
        let is_of = |name| tool.as_deref() == Some(name);
        if is_of(SIMULATOR) {
            Some(Self::Simulation)
        } else if SweepDirectory::is_in(directory) {
            Some(Self::Sweep)
        } else if is_of(MONITOR) {
            Some(Self::Watch)
        } else if Prediction::is_in(directory) {
            Some(Self::Prediction)
        } else if !sweeps_in(directory).is_empty() {
            Some(Self::Sweeps)
        } else if !watches_in(directory).is_empty() {
            Some(Self::Watches)
        } else {
            run.map(|_| Self::Run)
        }
    }

    /// Whether it is an experiment, of runs or of searches.
    pub const fn is_experiment(self) -> bool {
        matches!(self, Self::Experiment | Self::Searches)
    }
}

/// The sweeps in the directories in `directory`, in order of their names.
pub fn sweeps_in(directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let mut paths: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(|path| SweepDirectory::is_in(path)).collect();
    paths.sort();
    paths
}

/// The watches of a directory, by name: itself, its own `watch`, or those of the directories in it. One by itself has
/// an empty name.
pub fn watches_in(directory: &Path) -> Vec<(String, PathBuf)> {
    let itself = [directory.to_owned(), directory.join(WATCH)];
    if let Some(path) = itself.into_iter().find(|path| is_watch(path)) {
        return vec![(String::new(), path)];
    }
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let watches = entries.filter_map(|entry| {
        let entry = entry.ok()?;
        let path = entry.path().join(WATCH);
        Some((entry.file_name().into_string().ok()?, path)).filter(|(_, path)| is_watch(path))
    });
    let mut watches: Vec<_> = watches.collect();
    watches.sort();
    watches
}

fn is_watch(path: &Path) -> bool {
    RunDirectory::open(path).and_then(|run| run.info()).is_ok_and(|info| info.tool == MONITOR)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: &str = "run.toml";

    /// The text of a `run.toml`.
    fn info(tool: &str) -> String {
        format!(
            "tool = \"{tool}\"\nversion = \"0.1.0\"\ncommand = []\nstarted = \"2024-05-01T10:00:00Z\"\n\
             interrupted = false\nseed = 1\nwindow = {{ from_ns = 0, to_ns = 1 }}\nspec = {{}}\n"
        )
    }

    /// The text of an `experiment.json` with a first factor of that name.
    fn experiment(factor: &str) -> String {
        format!(
            r#"{{"seed": 1, "title": "", "started": "2024-05-01T10:00:00Z", "interrupted": false, "version": "",
            "command": [], "server": {{"kind": "origin", "version": ""}}, "subjects": [], "classes": [], "tests": [],
            "factor": {{"name": "{factor}", "unit": "", "levels": []}}}}"#
        )
    }

    fn kind(files: &[(&str, &str)]) -> Option<Kind> {
        let scratch = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = scratch.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Kind::of(scratch.path())
    }

    #[test]
    fn an_experiment_is_of_runs_or_of_searches() {
        let lab = info("lab");
        let of = |index: &str| kind(&[("experiment.json", index), (RUN, &lab)]);
        assert_eq!(of(&experiment("load")), Some(Kind::Experiment));
        assert_eq!(of(&experiment("")), Some(Kind::Searches));
        assert_eq!(of("cut sho"), Some(Kind::Experiment));
        assert!(Kind::Experiment.is_experiment() && Kind::Searches.is_experiment());
        assert!(!Kind::Search.is_experiment() && !Kind::Run.is_experiment());
    }

    #[test]
    fn an_experiment_counts_before_a_search_that_was_there() {
        let index = experiment("load");
        let files = [("capacity.json", "{}"), ("experiment.json", &*index)];
        assert_eq!(kind(&files), Some(Kind::Experiment));
    }

    #[test]
    fn a_search_is_one_although_it_was_watched() {
        let watch = info("watch");
        assert_eq!(kind(&[("capacity.json", "{}"), ("watch/run.toml", &watch)]), Some(Kind::Search));
    }

    #[test]
    fn what_the_simulator_writes() {
        assert_eq!(kind(&[(RUN, &info("sim"))]), Some(Kind::Simulation));
        assert_eq!(kind(&[("sweep.json", "{}")]), Some(Kind::Sweep));
        assert_eq!(kind(&[("a/sweep.json", "{}"), ("b/sweep.json", "{}")]), Some(Kind::Sweeps));
        assert_eq!(
            kind(&[("prediction.json", "{}"), ("fit/run.toml", &info("load"))]),
            Some(Kind::Prediction)
        );
    }

    #[test]
    fn what_the_monitor_writes() {
        let (watch, load) = (info("watch"), info("load"));
        assert_eq!(kind(&[(RUN, &watch)]), Some(Kind::Watch));
        assert_eq!(kind(&[(RUN, &load), ("watch/run.toml", &watch)]), Some(Kind::Watches));
        assert_eq!(kind(&[("a/watch/run.toml", &watch)]), Some(Kind::Watches));
        assert_eq!(kind(&[("a/run.toml", &watch)]), None, "only its `watch` is looked at");
    }

    #[test]
    fn a_run_of_the_load_generator() {
        assert_eq!(kind(&[(RUN, &info("load"))]), Some(Kind::Run));
        assert_eq!(kind(&[(RUN, "cut sho")]), Some(Kind::Run));
    }

    #[test]
    fn a_directory_without_a_record_has_no_kind() {
        assert_eq!(kind(&[]), None);
        assert_eq!(kind(&[("server.log", "")]), None);
        assert_eq!(Kind::of(Path::new("/does/not/exist")), None);
    }
}
