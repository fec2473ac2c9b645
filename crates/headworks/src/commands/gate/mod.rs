//! `headworks gate`: the overload-control proxy, with its console and what looks ahead for it.

mod command;
pub(super) mod console;
mod foresight;
mod foretold;

pub(crate) use command::Args;
pub(super) use foresight::foresight;
