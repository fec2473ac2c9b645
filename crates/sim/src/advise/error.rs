//! [`AdviceError`]: why there is no advice.

use crate::model::ModelError;
use crate::model::SessionModelError;

/// Why there is no advice.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum AdviceError {
    /// The model cannot be simulated.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The model with its gate cannot be simulated.
    #[error(transparent)]
    Gate(#[from] SessionModelError),
    /// An objective is about a class of a gate, and no gate is given.
    #[error(
        "the objective \"{0}\" is about a class of a gate, and there is no gate; give its configuration with --policy, or leave out the class"
    )]
    NoGate(String),
    /// An objective is about a class that the gate has not.
    #[error("an objective is about the class \"{class}\", which the gate has not; its classes: {known}")]
    UnknownClass {
        /// What it says.
        class: String,
        /// What it could say.
        known: String,
    },
    /// An objective is about a class that no request is of.
    #[error(
        "an objective is about the class \"{0}\", and no request is of that class; give the gate a rule for it, or, where it is the first class, --premium"
    )]
    EmptyClass(String),
    /// Nothing is to be achieved.
    #[error("there is no objective; state one, such as p90<1s")]
    NoObjective,
    /// Its load cannot be chosen.
    #[error(
        "the model's clients wait for their answers, so that its load cannot be chosen; give a --rate or a --load"
    )]
    Closed,
}
