//! [`SweepError`]: why a sweep could not be done.

/// Why a sweep could not be done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SweepError {
    /// The spec is wrong.
    #[error(transparent)]
    Spec(#[from] config::Error),
    /// A point cannot be simulated.
    #[error(transparent)]
    Model(#[from] crate::ModelError),
    /// The record could not be written or read.
    #[error(transparent)]
    Record(#[from] record::Error),
}

impl SweepError {
    /// Whether the operator can mend it with another spec or directory.
    pub fn is_usage(&self) -> bool {
        use record::Error::{AnotherSweep, DamagedPoint};
        matches!(self, Self::Spec(_) | Self::Record(AnotherSweep { .. } | DamagedPoint { .. }))
    }
}
