//! The report's data.

use serde::Serialize;

use super::effects::Effect;
use crate::conclusion::Conclusion;
use crate::method::fact::{Fact, Source};
use crate::plot::Figure;

/// The report of a search, or of an experiment whose tests are searches.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SearchReport {
    /// What it is about.
    pub title: String,
    /// The version of Headworks that searched.
    pub version: String,
    /// What came out, in words.
    pub verdict: Conclusion,
    /// What is to be known before the figures are believed, a sentence each.
    pub warnings: Vec<String>,
    /// What each level of what was varied does.
    pub effects: Vec<Effect>,
    /// What compares the searches; nothing where there is one.
    pub compared: Vec<Figure>,
    /// Search by search.
    pub searches: Vec<OneSearch>,
    /// How it was done.
    pub method: Vec<Fact>,
    /// The spec, the workload, the server's configuration.
    pub sources: Vec<Source>,
}

/// A search.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct OneSearch {
    /// Of the place in the page.
    pub id: String,
    /// Subject and levels.
    pub name: String,
    /// Where its record is, from the experiment's directory.
    pub directory: String,
    /// Capacity, interval and bottleneck in a line.
    pub result: String,
    /// Why it does not count, or what to know of it.
    pub why: Vec<String>,
    /// Why this is the bottleneck.
    pub evidence: Vec<String>,
    /// How sure that is, and what came to its end when.
    pub order: Vec<String>,
    /// What to do.
    pub next: Vec<String>,
    /// What the capacity rests on.
    pub basis: Vec<String>,
    /// How near predictions came.
    pub predicted: Vec<String>,
    /// Against the load.
    pub figures: Vec<Figure>,
}
