//! [`MergeError`]: why records cannot be put together.

use std::path::PathBuf;

use record::Error;
use units::Span;

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
    /// Some ran neither side by side nor one after the other.
    #[error(
        "{} and {} do not go together: their windows have {common} of {shorter} in common, so that they ran neither side by side nor one after the other; start generators together, or give records of separate times",
        a.display(), b.display()
    )]
    Overlap {
        /// One of two records.
        a: PathBuf,
        /// The other.
        b: PathBuf,
        /// How long both windows were open at once.
        common: Span,
        /// The shorter window.
        shorter: Span,
    },
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
