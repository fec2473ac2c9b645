//! [`OutputError`]: why something could not be written.

use std::io;
use std::path::{Path, PathBuf};

/// What could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OutputError {
    /// The record.
    #[error(transparent)]
    Record(#[from] record::Error),
    /// A file for other programs.
    #[error("cannot write {path}: {source}", path = path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

impl OutputError {
    pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::File { path: path.to_owned(), source }
    }
}
