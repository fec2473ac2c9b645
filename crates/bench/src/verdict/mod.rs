//! `bench verdict`: whether the bottleneck that `headworks lab` names is the one that was planted.

mod case;
pub(crate) mod command;
mod run;
mod table;
