//! [`Source`]: where the samples of a group come from.

use crate::error::Error;

/// Where the samples of a group of figures come from.
pub trait Source {
    /// What a sample holds: sums since the machine was started, or since the source was opened.
    type Sample;

    /// Takes a sample.
    ///
    /// # Errors
    /// When the kernel does not give it.
    fn sample(&mut self) -> Result<Self::Sample, Error>;
}
