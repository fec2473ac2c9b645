//! `bench watch`: what it costs a saturated server to be watched.

pub(crate) mod command;
mod moments;
mod run;
mod subject;
mod table;
mod watcher;
