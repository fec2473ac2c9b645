//! Experiments from their specs to their records.

mod begin;
mod capacity;
mod check;
pub(crate) mod confirm;
mod directory;
pub(crate) mod dry_run;
pub(crate) mod experiment;
pub(crate) mod find;
mod lengths;
mod load_test;
pub(crate) mod options;
mod plan;
mod prediction;
mod prober;
mod resume;
mod runner;
mod search_test;
pub(crate) mod serve;
mod set_up;
mod validation;
