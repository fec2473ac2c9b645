//! `headworks load`: puts load on a server and tells what became of it.

mod args;
pub(crate) mod command;
mod content;
mod run;
mod values;
