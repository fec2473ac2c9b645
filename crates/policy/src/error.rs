//! [`ConfigError`]: why a configuration is refused.

use units::ClassId;

/// Most classes.
pub(crate) const MAX_CLASSES: usize = 32;
/// Most requests held at once.
pub(crate) const MAX_HELD: u64 = 1 << 24;

/// Why a configuration is refused.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum ConfigError {
    /// No class, or more than 32.
    #[error("{0} classes; between 1 and {max} are possible", max = MAX_CLASSES)]
    Classes(usize),
    /// A running policy was given another number of classes.
    #[error("{after} classes instead of {before}; their number cannot change while requests of them wait")]
    Reclassed {
        /// How many there are.
        before: usize,
        /// How many were asked for.
        after: usize,
    },
    /// A weight is not a number between 0.001 and 1e6.
    #[error("weight {weight} of class {class}; a weight must lie between 0.001 and 1000000")]
    Weight {
        /// Which class.
        class: ClassId,
        /// The weight given.
        weight: f64,
    },
    /// A bound that must not be zero is.
    #[error("{0} is 0; it must be at least 1")]
    Zero(&'static str),
    /// All bounds together pass the largest number of requests that can be held.
    #[error("the queues hold {0} requests in all; at most {max} are possible", max = MAX_HELD)]
    TooMany(u64),
    /// Poles of the admission loop outside the unit circle.
    #[error(
        "gains q0 = {q0}, q1 = {q1} make admission unstable; q0 + q1 must be above 0, q1 between -2 and 0, q0 below 4 + q1"
    )]
    Unstable {
        /// Gain on the present error.
        q0: f64,
        /// Gain on the error one period ago.
        q1: f64,
    },
    /// An adaptive window whose bounds are out of order.
    #[error("window from {min} to {max}, starting at {initial}; 1 <= min <= initial <= max is needed")]
    Window {
        /// Smallest size.
        min: u32,
        /// Size at the start.
        initial: u32,
        /// Largest size.
        max: u32,
    },
}
