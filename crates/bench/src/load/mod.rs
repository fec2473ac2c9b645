//! `bench load`: what a request costs `headworks load`, beside other generators in the same run.

mod case;
pub(crate) mod command;
mod run;
mod table;
