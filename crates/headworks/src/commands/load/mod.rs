//! `headworks load`: puts load on a server and tells what became of it.

mod args;
pub(crate) mod command;
mod conflicts;
mod content;
mod import;
mod run;
mod values;
