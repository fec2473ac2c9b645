//! Why there is no report.

use std::path::PathBuf;

/// What stood in the way; every message names the place and the mend.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no such directory.
    #[error("{} does not exist; give the directory that `headworks lab run`, or `load`, `sim` or `watch` with `--out` wrote", .0.display())]
    Missing(PathBuf),
    /// The directory does not hold an experiment.
    #[error(
        "{} is not an experiment: it has no experiment.json; give the directory that `headworks lab run` wrote",
        .0.display()
    )]
    NotAnExperiment(PathBuf),
    /// The directory holds neither an experiment nor a run.
    #[error(
        "{} has no experiment.json and no run.toml; give the directory that `headworks lab run`, \
         or `load`, `sim` or `watch` with `--out` wrote",
        .0.display()
    )]
    NotARecord(PathBuf),
    /// A file of the record is missing or cannot be read.
    #[error(transparent)]
    Record(#[from] record::Error),
    /// The figures cannot be put into the page.
    #[error("the report's page and its figures do not fit: {0}")]
    Page(String),
}

impl Error {
    /// Whether the directory that was given is the mistake, rather than what is in it.
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::Missing(_) | Self::NotAnExperiment(_) | Self::NotARecord(_))
    }
}
