//! Why there is no trace.

use std::io;
use std::path::PathBuf;

use super::skipped::Skipped;

/// Why a file cannot be replayed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It cannot be opened or read.
    #[error("cannot read {path}: {why}", path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        #[source]
        why: io::Error,
    },
    /// It is compressed, and not as gzip does it.
    #[error("{path} is compressed; unpack it first: {with} {path} > FILE", path = path.display())]
    Compressed {
        /// The file.
        path: PathBuf,
        /// The program that does it.
        with: &'static str,
    },
    /// Nothing in it can be replayed.
    #[error("{path}: not one of its lines can be replayed; {skipped}", path = path.display())]
    Nothing {
        /// The file.
        path: PathBuf,
        /// What is in it instead.
        skipped: Box<Skipped>,
    },
    /// A scale that cannot be.
    #[error("times can be scaled by a number above 0, not by {0}")]
    Factor(f64),
    /// All requests came at once.
    #[error("all requests of the trace are of the same moment: it has no rate that could be scaled")]
    NoRate,
}
