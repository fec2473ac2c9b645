//! [`merge`]: several records become one.

use std::path::{Path, PathBuf};

use record::{RunDirectory, Summary};

use crate::merge::arrangement::Arrangement;
use crate::merge::error::MergeError;
use crate::merge::source::Source;
use crate::merge::summary;
use crate::merge::tally::Tally;
use crate::run::report::Report;

/// Puts the records in `directories` together, and writes them as one into `out`.
///
/// # Errors
/// When one of them is not a record of the generator, they do not go together, or one cannot be read or written.
pub fn merge(directories: &[PathBuf], out: &Path, command: Vec<String>) -> Result<Report, MergeError> {
    let sources = directories.iter().map(|path| Source::open(path)).collect::<Result<Vec<_>, _>>()?;
    for (index, source) in sources.iter().enumerate() {
        let before = &sources[..index];
        if before.iter().any(|other| other.path == source.path) {
            return Err(MergeError::Twice(source.given.clone()));
        }
        if let Some(other) = before.iter().find(|other| other.has_sessions() != source.has_sessions()) {
            return Err(MergeError::Unlike(other.given.clone(), source.given.clone()));
        }
    }
    let arrangement = Arrangement::of(&sources)?;
    let directory = RunDirectory::create(out)?;
    let tally = Tally::take(&sources, &arrangement, &directory)?;
    let summary: Summary = summary::of(&sources, &arrangement, &tally);
    directory.write_info(&arrangement.info(&sources, command))?;
    if let Some(environment) = sources.first().and_then(|source| source.run.environment().ok()) {
        directory.write_environment(&environment)?;
    }
    directory.write_summary(&summary)?;
    Ok(Report::merged(
        summary,
        tally.classes(),
        arrangement.title(&sources),
        sources.iter().all(Source::is_open),
    ))
}
