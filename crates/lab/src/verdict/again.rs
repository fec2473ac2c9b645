//! Judging the record of a search or an experiment anew.

use std::path::Path;

use record::experiment::Experiment;
use record::search::{Resource, SearchResult, Verdict};
use record::{RunDirectory, Samples};

use super::confirmed::confirmed;
use super::judge::judge;
use super::level::Level;
use super::levels;
use super::of_loads::of_loads;
use crate::error::Error;
use crate::server::running::LOG;

/// Reads what a search with a directory found, and judges it anew.
///
/// # Errors
/// When there is no such search, or something of it is missing.
pub fn verdict(directory: &Path) -> Result<SearchResult, Error> {
    // Of a test of an experiment, beside the search.
    let test = directory.parent().filter(|test| test.ancestors().nth(2).is_some_and(Experiment::is_in));
    let log = test.map(|test| test.join(LOG));
    verdict_with(directory, None, log.as_deref())
}

/// Judges a search anew, by what `headworks watch` saw of the server meanwhile wherever it ran, and by the server's log,
/// where these are given; the clocks of both machines have to agree to within a small part of a probe.
///
/// # Errors
/// When there is no such search, something of it is missing, or nothing was seen while it was made.
pub fn verdict_with(
    directory: &Path,
    watch: Option<&Path>,
    log: Option<&Path>,
) -> Result<SearchResult, Error> {
    let samples = match watch {
        Some(watch) => Samples::read(&RunDirectory::open(watch)?)?,
        None => Samples::beside(directory),
    };
    let mut found = SearchResult::load(directory)?;
    let levels = levels::of_search(&found, directory, &samples, log)?;
    if let Some(watch) = watch.filter(|_| !levels.iter().any(Level::is_watched)) {
        return Err(Error::NotWatched { watch: watch.to_owned(), search: directory.to_owned() });
    }
    let verdict = judge(levels);
    let is_none = |verdict: &Verdict| verdict.bottleneck == Some(Resource::None);
    // That nothing was at its end is known only where all was tried that was to be.
    found.verdict = if is_none(&verdict) && !is_none(&found.verdict) { Verdict::default() } else { verdict };
    confirmed(&mut found);
    Ok(found)
}

/// As [`verdict`], whatever has been relieved before.
pub(crate) fn verdict_alone(directory: &Path) -> Result<SearchResult, Error> {
    let mut found = SearchResult::load(directory)?;
    if !found.reliefs.is_empty() {
        found.reliefs.clear();
        found.save(directory)?;
    }
    verdict(directory)
}

/// Judges each search of an experiment anew, by its test's directory; of tests at given loads for each subject and
/// its settings, by their name.
///
/// # Errors
/// When there is no such experiment, or nothing in it that was measured, or something of one is missing.
pub fn verdicts(directory: &Path) -> Result<Vec<(String, SearchResult)>, Error> {
    let experiment = Experiment::load(directory)?;
    let searches =
        experiment.tests.iter().filter_map(|test| Some((&test.directory, test.capacity.as_ref()?)));
    let found: Vec<_> = searches
        .map(|(test, capacity)| Ok((test.clone(), verdict(&directory.join(test).join(&capacity.directory))?)))
        .collect::<Result<_, Error>>()?;
    let found = if found.is_empty() { of_loads(&experiment, directory)? } else { found };
    if found.is_empty() {
        let path = directory.to_owned();
        return Err(record::Error::NotARecord { path, missing: "test that was measured" }.into());
    }
    Ok(found)
}
