//! Searches for the knee: what a server keeps up with at each level of what was varied, and what sets it.

mod charts;
mod effects;
mod model;
mod read;
mod terminal;

pub use effects::{Effect, Published};
pub use model::{OneSearch, SearchReport};
