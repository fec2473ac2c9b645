//! The live view: a picture of the run on the whole terminal, and keys to act on it.

mod chart;
mod counts;
mod draw;
pub(super) mod screen;
mod state;
mod table;
#[cfg(test)]
mod tests;
