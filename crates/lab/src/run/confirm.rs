//! Whether a verdict holds: what was named is relieved, and the capacity searched for again.

use std::fs;
use std::path::Path;

use record::experiment::{Experiment, TestState};
use record::search::{Capacity, Relief, SearchResult};
use testbed::Stop;
use toml::{Table, Value};

use super::experiment::run;
use super::options::Options;
use crate::error::Error;
use crate::verdict::again::verdict;
use crate::verdict::confirmed::confirmed;
use crate::verdict::levers::lever;

/// Where the searches are, below the experiment.
const PLACE: &str = "confirm";
const INFO: &str = "run.toml";
/// So many candidates are relieved at most, one after the other.
const MOST: usize = 3;

/// Judges the one search of an experiment, relieves what is likeliest, and searches again; if that does not help, the next.
/// `options` is how searches are started; its spec and directory do not count.
///
/// # Errors
/// When there is not one search, or a search cannot be made.
pub fn confirm(directory: &Path, options: &Options, stop: &Stop) -> Result<SearchResult, Error> {
    let experiment = Experiment::load(directory)?;
    let not_one = || Error::NotOneSearch { path: directory.to_owned() };
    let searches: Vec<_> = experiment
        .tests
        .iter()
        .filter(|test| test.state != TestState::Broken)
        .filter_map(|test| Some(directory.join(&test.directory).join(&test.capacity.as_ref()?.directory)))
        .collect();
    let [search] = &searches[..] else { return Err(not_one()) };
    let mut found = verdict(search)?;
    let before = found.capacity.clone().ok_or_else(not_one)?;
    let file = directory.join(INFO);
    let text = fs::read_to_string(&file).map_err(Error::io("read", &file))?;
    let table: Table = text.parse().unwrap_or_default();
    let spec = table.get("spec").and_then(Value::as_table).cloned().unwrap_or_default();
    found.reliefs.clear();
    let candidates = found.verdict.candidates.clone();
    for candidate in candidates.iter().filter(|candidate| candidate.probability > 0.0).take(MOST) {
        let Some(lever) = lever(candidate.name, &spec) else {
            found.reliefs.push(Relief {
                resource: candidate.name,
                settings: Vec::new(),
                said: "the lab has nothing that it could change of it".to_owned(),
                before: before.clone(),
                after: None,
                directory: None,
            });
            // What is likelier was not tried, so that nothing is known of it.
            break;
        };
        let place = format!("{PLACE}/{}", candidate.name.name());
        let out = directory.join(&place);
        if out.exists() {
            fs::remove_dir_all(&out).map_err(Error::io("remove", &out))?;
        }
        let options = Options {
            spec: file.clone(),
            settings: lever.settings.clone(),
            out: Some(out),
            seed: Some(experiment.seed),
            ..options.clone()
        };
        let finished = run(&options, stop)?;
        stop.check()?;
        let after = finished.experiment.tests.iter().find_map(|test| {
            let capacity = test.capacity.as_ref()?;
            let search = finished.directory.join(&test.directory).join(&capacity.directory);
            SearchResult::load(&search).ok()?.capacity
        });
        let relief = relief(candidate.name, lever.settings, lever.said, &before, after, place);
        let holds = relief.holds() == Some(true);
        found.reliefs.push(relief);
        if holds {
            break;
        }
    }
    confirmed(&mut found);
    found.save(search)?;
    Ok(found)
}

fn relief(
    resource: record::search::Resource,
    settings: Vec<String>,
    said: String,
    before: &Capacity,
    after: Option<Capacity>,
    directory: String,
) -> Relief {
    Relief { resource, settings, said, before: before.clone(), after, directory: Some(directory) }
}
