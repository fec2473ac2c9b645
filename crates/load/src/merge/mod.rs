//! Several records of the generator as one: generators that ran side by side on several machines, or the same run again
//! and again.
//!
//! Only what was due in the measuring window of its own record is taken; counts and histograms add up. How rates are put
//! together depends on whether the windows overlap.
//!
//! | file | idea |
//! | --- | --- |
//! | `source` | one of the records |
//! | `arrangement` | where on one axis of time each of them lies |
//! | `tally` | what their rows add up to, and the rows of the new record |
//! | `summary` | the summary of all of them |

mod arrangement;
mod source;
mod summary;
mod tally;

use std::path::{Path, PathBuf};

use record::{Error, RunDirectory, Summary};

use crate::merge::arrangement::Arrangement;
use crate::merge::source::Source;
use crate::merge::tally::Tally;
use crate::run::report::Report;

/// Why records cannot be put together.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MergeError {
    /// A directory is not a record of the generator.
    #[error("{} is not a record of headworks load; give directories that it wrote with --out", .0.display())]
    NotOfLoad(PathBuf),
    /// A directory is there twice.
    #[error("{} is given twice; its requests would count twice", .0.display())]
    Twice(PathBuf),
    /// Some have sessions and others have not.
    #[error("{} and {} do not go together: one counts sessions, the other requests", .0.display(), .1.display())]
    Unlike(PathBuf, PathBuf),
    /// A record has no whole summary, or a file cannot be read or written.
    #[error(transparent)]
    Record(#[from] Error),
}

impl MergeError {
    /// Whether the directories that were given are the mistake.
    pub fn is_usage(&self) -> bool {
        !matches!(self, Self::Record(_))
    }
}

/// Puts the records in `directories` together, and writes them as one into `out`.
///
/// # Errors
/// When one of them is no record of the generator, they do not go together, or one cannot be read or written.
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
    let arrangement = Arrangement::of(&sources);
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
