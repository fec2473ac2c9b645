//! [`Sign`]: that a resource is at its end.

/// That a resource is at its end.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sign {
    /// How far it goes, from 0 to 1: what could be chance or something else as well is less than 1.
    pub(crate) strength: f64,
    /// In a sentence with figures.
    pub(crate) said: String,
}

impl Sign {
    pub(super) fn sure(said: String) -> Self {
        Self { strength: 1.0, said }
    }

    pub(super) fn of(strength: f64, said: String) -> Self {
        Self { strength: strength.clamp(0.0, 1.0), said }
    }
}
