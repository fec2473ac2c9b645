//! [`DryRun`]: what an experiment would do, and how long that would take.

use serde::Serialize;

use super::check::check;
use super::lengths;
use super::options::Options;
use super::plan::{Planned, plan};
use crate::error::Error;
use crate::spec::experiment::Spec;

/// What an experiment would do.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DryRun {
    /// What it is about.
    pub title: String,
    /// The server, as it states itself.
    pub server: String,
    /// In the order in which they would be done.
    pub tests: Vec<PlannedTest>,
    /// All of it, s; a server that needs longer to come to rest, or is hard to search, takes longer.
    pub seconds: f64,
}

/// A test that would be done.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlannedTest {
    /// From the experiment's directory.
    pub directory: String,
    /// Subject and levels.
    pub name: String,
    /// How long it takes, s.
    pub seconds: f64,
}

/// Checks all that can be checked before anything is measured, and says what would be done.
///
/// # Errors
/// As [`crate::run()`] before it begins.
pub fn dry_run(options: &Options) -> Result<DryRun, Error> {
    let spec = Spec::read(&options.spec, &options.settings)?;
    let plan = plan(&spec, options.seed());
    let version = check(&spec, &plan, &options.headworks)?;
    let planned_test = |planned: &Planned| {
        Ok(PlannedTest {
            directory: planned.directory.clone(),
            name: planned.name(),
            seconds: lengths::test(&planned.spec(&spec)?).as_secs_f64(),
        })
    };
    let tests: Vec<PlannedTest> = plan.iter().map(planned_test).collect::<Result<_, Error>>()?;
    let seconds = lengths::capacity(&spec).as_secs_f64() + tests.iter().map(|test| test.seconds).sum::<f64>();
    Ok(DryRun {
        title: spec.title.clone(),
        server: format!("{} ({version})", spec.server.kind.name()),
        tests,
        seconds,
    })
}
