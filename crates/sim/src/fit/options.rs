//! [`FitOptions`]: how to look at what was observed.

use units::Span;

/// How to look at what was observed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FitOptions {
    /// The length of the windows in which the rate ought to be constant; the paper's is an hour
    /// (section 2).
    pub window: Span,
    /// Which of them the model is to be of.
    pub chosen: Chosen,
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
        Self { window: Span::from_secs(3600), chosen: Chosen::Busiest, processors: 1, threads: None, stated }
    }
}

/// Which window a model is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Chosen {
    /// The one with most requests per second, of those with a constant rate if there are any.
    #[default]
    Busiest,
    /// All with a constant rate together.
    All,
    /// The one with this number, from 1.
    Number(usize),
}

/// What cannot be observed, and is stated.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Stated {
    /// What a static request needs of a processor, in seconds.
    pub static_time: Option<f64>,
    /// How many times as much a dynamic one needs.
    pub dynamic_cost: Option<f64>,
}
