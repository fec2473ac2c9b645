//! [`FitOptions`]: how to look at what was observed.

use units::Span;

/// How to look at what was observed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FitOptions {
    /// The length of the windows in which the rate ought to be constant; the paper's is an hour
    /// (section 2).
    pub window: Span,
    /// Processors of the server that was observed.
    pub processors: u32,
    /// How many requests it worked on at a time; no limit when it is `None`.
    pub threads: Option<u32>,
    /// What counts for more than what was observed.
    pub stated: Stated,
}

impl Default for FitOptions {
    fn default() -> Self {
        let stated = Stated::default();
        Self { window: Span::from_secs(3600), processors: 1, threads: None, stated }
    }
}

/// What cannot be observed, and is stated.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Stated {
    /// What a static request needs of a processor, in seconds.
    pub static_time: Option<f64>,
    /// How many times as much a dynamic one needs.
    pub dynamic_cost: Option<f64>,
}
