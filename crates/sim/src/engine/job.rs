//! [`Job`]: a request in the server.

/// A request in the server.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Job {
    /// When it came, in seconds.
    pub(crate) arrived: f64,
    /// What it needs of the processor, in seconds.
    pub(crate) demand: f64,
    pub(crate) class: u32,
    /// Whose it is, to its source.
    pub(crate) whose: u32,
}
