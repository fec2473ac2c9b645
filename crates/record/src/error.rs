//! Why a record could not be written or read.

use std::io;
use std::path::{Path, PathBuf};

/// What went wrong with a record; every message names the file and, where there is one, the mend.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The directory holds a run, which is never overwritten.
    #[error("{} already holds a run; give another directory or remove this one", path.display())]
    Occupied {
        /// The directory.
        path: PathBuf,
    },
    /// The directory holds no run.
    #[error("{} is not a run directory: it has no {missing}", path.display())]
    NotARecord {
        /// The directory.
        path: PathBuf,
        /// The file that would have made it one.
        missing: &'static str,
    },
    /// The directory holds a sweep that is not the one to go on with.
    #[error("{} holds another sweep: {difference}; give another directory or remove this one", path.display())]
    AnotherSweep {
        /// The directory.
        path: PathBuf,
        /// In what the two differ.
        difference: String,
    },
    /// A point of a sweep cannot be read.
    #[error("{} is damaged ({why}); remove it, and the same sweep simulates the point again", path.display())]
    DamagedPoint {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: Box<Error>,
    },
    /// The operating system refused.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// `create`, `read` or `write`.
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// Its reason.
        source: io::Error,
    },
    /// A Parquet file could not be written or read.
    #[error("{}: {source}", path.display())]
    Parquet {
        /// The file.
        path: PathBuf,
        /// The Parquet library's reason.
        source: parquet::errors::ParquetError,
    },
    /// The file's text is not what it ought to be.
    #[error("{}: {why}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The parser's reason.
        why: String,
    },
}

impl Error {
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { action, path: path.to_owned(), source }
    }

    pub(crate) fn malformed(path: &Path, why: impl ToString) -> Self {
        Self::Malformed { path: path.to_owned(), why: why.to_string() }
    }
}
