//! `bench sim`: how fast `headworks sim` is, beside other simulators of the same model in the same run.

mod agreement;
pub(crate) mod command;
mod plan;
mod run;
mod simulator;
mod table;
mod textbook;
