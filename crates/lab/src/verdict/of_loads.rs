//! The verdict on tests at given loads: for each subject and its settings, over all loads and repeats.

use std::collections::BTreeMap;
use std::path::Path;

use record::experiment::{Experiment, Test, TestState};
use record::search::{ProbeResult, SearchResult};
use record::{RunDirectory, Samples};

use super::judge::judge;
use super::level::Level;
use super::log::Refused;
use crate::error::Error;
use crate::server::running::LOG;

/// The share of sessions that a server completes that keeps up; they are few, so that one must not decide.
const KEPT_UP: f64 = 0.97;

/// By subject and settings, such as `gate, look-ahead 4`; broken tests are left out.
pub(crate) fn of_loads(
    experiment: &Experiment,
    directory: &Path,
) -> Result<Vec<(String, SearchResult)>, Error> {
    let mut groups: BTreeMap<String, Vec<&Test>> = BTreeMap::new();
    for test in experiment.tests.iter().filter(|test| test.state != TestState::Broken) {
        let settings = test.settings.iter().map(|(label, level)| format!("{label} {level}"));
        let name: Vec<String> = std::iter::once(test.subject.clone()).chain(settings).collect();
        groups.entry(name.join(", ")).or_default().push(test);
    }
    groups.into_iter().map(|(name, tests)| Ok((name, found(directory, &tests)?))).collect()
}

fn found(directory: &Path, tests: &[&Test]) -> Result<SearchResult, Error> {
    let mut probes = Vec::with_capacity(tests.len());
    let mut levels = Vec::with_capacity(tests.len());
    for test in tests {
        let place = directory.join(&test.directory);
        let mut probe = result(test, &place)?;
        let mut level = Level::read(&place, &probe, &Samples::beside(&place))?;
        level.refused = Refused::read(&place.join(LOG));
        probe.used = level.used();
        probes.push(probe);
        levels.push(level);
    }
    Ok(SearchResult { verdict: judge(levels), probes, ..SearchResult::default() })
}

fn result(test: &Test, place: &Path) -> Result<ProbeResult, Error> {
    let summary = RunDirectory::open(place)?.summary()?;
    let sessions = &summary.sessions;
    let completed = sessions.completed as f64 / sessions.started.max(1) as f64;
    let behind = format!("{:.1} % of the sessions were completed", completed * 100.0);
    Ok(ProbeResult {
        clients: None,
        offered: Some(test.offered),
        achieved: summary.rate.achieved,
        p50: summary.latency.total.p50,
        p99: summary.latency.total.p99,
        behind: (completed < KEPT_UP).then_some(behind),
        not_valid: (test.state == TestState::NotValid).then(|| test.why.join("; ")),
        blind: 0.0,
        used: BTreeMap::new(),
        directory: test.directory.clone(),
    })
}
