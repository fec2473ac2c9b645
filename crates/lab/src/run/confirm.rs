//! Whether a verdict holds: what was named is relieved, and the capacity searched for again.

use std::fs;
use std::path::Path;

use record::experiment::{Experiment, TestState};
use record::search::{Capacity, Relief, Resource, SearchResult};
use testbed::Stop;
use toml::{Table, Value};

use super::experiment::run;
use super::options::Options;
use crate::error::Error;
use crate::verdict::again::{verdict, verdict_alone};
use crate::verdict::confirmed::{confirmed, sentence};
use crate::verdict::levers::{Lever, lever};

/// Where the searches are, below the experiment.
const PLACE: &str = "confirm";
const INFO: &str = "run.toml";
/// So many candidates are relieved at most, one after the other.
const MOST: usize = 3;

/// Judges the one search of an experiment, relieves what is likeliest, and searches again; if that does not help, the next.
/// With `only`, that resource is relieved whatever the verdict is, which stays as it was. What has been found up to then is kept and given with whatever ends it. `options` is how searches are started; its spec and
/// directory do not count.
///
/// # Errors
/// When there is not one search, or its record cannot be read, or the lab can change nothing of what is to be relieved.
pub fn confirm(
    directory: &Path,
    only: Option<Resource>,
    options: &Options,
    stop: &Stop,
) -> Result<(SearchResult, Result<(), Error>), Error> {
    let experiment = Experiment::load(directory)?;
    let not_one = || Error::NotOneSearch { path: directory.to_owned() };
    let searches: Vec<_> = experiment
        .tests
        .iter()
        .filter(|test| test.state != TestState::Broken)
        .filter_map(|test| Some(directory.join(&test.directory).join(&test.capacity.as_ref()?.directory)))
        .collect();
    let [search] = &searches[..] else { return Err(not_one()) };
    let mut found = if only.is_some() { verdict(search)? } else { verdict_alone(search)? };
    let before = found.capacity.clone().ok_or_else(not_one)?;
    let file = directory.join(INFO);
    let text = fs::read_to_string(&file).map_err(Error::io("read", &file))?;
    let table: Table = text.parse().unwrap_or_default();
    let spec = table.get("spec").and_then(Value::as_table).cloned().unwrap_or_default();
    let candidates = found.verdict.candidates.iter().filter(|candidate| candidate.probability > 0.0);
    let likeliest = || candidates.take(MOST).map(|candidate| candidate.name).collect();
    let tried: Vec<Resource> = only.map_or_else(likeliest, |only| vec![only]);
    let mut ended = Ok(());
    for resource in tried {
        let Some(lever) = lever(resource, &spec) else {
            if only.is_some() {
                return Err(Error::NoLever { path: directory.to_owned(), resource });
            }
            found.reliefs.push(untried(resource, &before));
            break;
        };
        let place = format!("{PLACE}/{}", resource.name());
        let options = Options {
            spec: file.clone(),
            settings: lever.settings.clone(),
            out: Some(directory.join(&place)),
            seed: Some(experiment.seed),
            ..options.clone()
        };
        let relieved = match relieved(&options, &before, stop) {
            Ok(relieved) => relieved,
            Err(error) if only.is_some() => return Err(error),
            Err(error) => {
                ended = Err(error);
                break;
            }
        };
        let Lever { settings, said } = lever;
        let directory = Some(place);
        let relief = Relief { resource, settings, said, before: before.clone(), after: relieved, directory };
        if only.is_some() {
            found.verdict.evidence = vec![sentence(&relief)];
            found.reliefs = vec![relief];
            return Ok((found, ended));
        }
        let holds = relief.holds();
        found.reliefs.push(relief);
        found.save(search)?;
        // What is likelier has to be known not to be it before the next is tried.
        if holds != Some(false) {
            break;
        }
    }
    confirmed(&mut found);
    found.save(search)?;
    Ok((found, ended))
}

fn untried(resource: Resource, before: &Capacity) -> Relief {
    Relief {
        resource,
        settings: Vec::new(),
        said: "the lab has nothing that it could change of it".to_owned(),
        before: before.clone(),
        after: None,
        directory: None,
    }
}

/// The capacity with what `options` set; of a server that kept up with everything then, the most that it kept up with; nothing
/// where the generator gave out before it could be known to be more.
fn relieved(options: &Options, before: &Capacity, stop: &Stop) -> Result<Option<Capacity>, Error> {
    if let Some(out) = options.out.as_ref().filter(|out| out.exists()) {
        fs::remove_dir_all(out).map_err(Error::io("remove", out))?;
    }
    let finished = run(options, stop)?;
    stop.check()?;
    let searched = finished.experiment.tests.iter().find_map(|test| Some((test, test.capacity.as_ref()?)));
    let Some((test, measured)) = searched else { return Ok(None) };
    let found = SearchResult::load(&finished.directory.join(&test.directory).join(&measured.directory))?;
    let kept_up = found.probes.iter().filter(|probe| probe.behind.is_none() && probe.not_valid.is_none());
    let most = kept_up.filter_map(|probe| probe.offered).reduce(f64::max);
    let at_least = |rate: f64| Capacity { rate, ci: [rate; 2], unit: before.unit.clone() };
    let after = found.capacity.or_else(|| most.map(at_least));
    Ok(after.filter(|after| test.state == TestState::Measured || after.ci[0] > before.ci[1]))
}
