//! [`ModelError`]: why something cannot be simulated.

/// Why something cannot be simulated.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// A number outside its range.
    #[error("{what} must be from {from} to {to}, not {value}")]
    Range {
        /// What it is.
        what: &'static str,
        /// What was given.
        value: f64,
        /// The smallest allowed.
        from: f64,
        /// The largest allowed.
        to: f64,
    },
    /// There is nothing to ask for.
    #[error("the model has no classes of requests")]
    NoClasses,
    /// A queue that grows for ever.
    #[error(
        "with a load of {load:.3} and no limit the queue grows for ever; give a queue length, or a load below 1"
    )]
    Unstable {
        /// The load.
        load: f64,
    },
}
