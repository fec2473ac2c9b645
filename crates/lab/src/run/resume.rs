//! Going on with an experiment that was interrupted.

use std::fs;
use std::path::Path;

use record::Kind;
use record::experiment::{Experiment, TestState};

use crate::error::Error;

/// What is to be recorded in `directory`: `fresh`, or the experiment there, when it was stopped
/// before its end and had the same `files` (spec and workload) and seed. Tests whose figures cannot be used are done again.
pub(crate) fn go_on(
    directory: &Path,
    fresh: Experiment,
    files: &[(String, String)],
) -> Result<Experiment, Error> {
    fs::create_dir_all(directory).map_err(Error::io("create", directory))?;
    if !Kind::of(directory).is_some_and(Kind::is_experiment) {
        return Ok(fresh);
    }
    let before = Experiment::load(directory)?;
    let occupied = |why| Error::Occupied { path: directory.to_owned(), why };
    if before.ended.is_some() && !before.interrupted {
        return Err(occupied(" that is complete"));
    }
    let differs = |(name, text): &&(String, String)| {
        fs::read_to_string(directory.join(name)).is_ok_and(|before| before != *text)
    };
    match files.iter().find(differs) {
        Some((name, _)) if name == "spec.toml" => return Err(occupied(" with another spec")),
        Some(_) => return Err(occupied(" with another workload")),
        None if before.seed != fresh.seed => return Err(occupied(" with another seed")),
        None => {}
    }
    if before.server != fresh.server || before.version != fresh.version {
        return Err(occupied(" of another version"));
    }
    let tests = before.tests.into_iter().filter(|test| test.state == TestState::Measured).collect();
    let Experiment { started, generator, capacity, .. } = before;
    Ok(Experiment { started, generator, capacity, tests, ..fresh })
}
