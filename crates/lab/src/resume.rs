//! Going on with an experiment that was interrupted.

use std::fs;
use std::path::Path;

use record::experiment::{Experiment, TestState};

use crate::Error;

/// What is to be recorded in `directory`: `fresh`, or the experiment there, when it was stopped
/// before its end and had the same spec. Tests whose figures cannot be used are done again.
pub(crate) fn go_on(directory: &Path, fresh: Experiment, spec: &str) -> Result<Experiment, Error> {
    fs::create_dir_all(directory).map_err(Error::io("create", directory))?;
    if !Experiment::is_in(directory) {
        return Ok(fresh);
    }
    let before = Experiment::load(directory)?;
    let occupied = |why| Error::Occupied { path: directory.to_owned(), why };
    if before.ended.is_some() && !before.interrupted {
        return Err(occupied(" that is complete"));
    }
    if fs::read_to_string(directory.join("spec.toml")).is_ok_and(|text| text != spec) {
        return Err(occupied(" with another spec"));
    }
    if before.server != fresh.server || before.version != fresh.version {
        return Err(occupied(" of another version"));
    }
    let tests = before.tests.into_iter().filter(|test| test.state == TestState::Measured).collect();
    Ok(Experiment { started: before.started, capacity: before.capacity, tests, ..fresh })
}
