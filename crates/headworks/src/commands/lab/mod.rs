//! `headworks lab`: experiments.

mod capacity;
pub(crate) mod command;
mod common;
mod compare;
mod found;
mod plan;
mod run;
mod serve;
mod verdict;
