//! `bench watch`: what it costs a saturated server to be watched.

pub(crate) mod command;
mod run;
mod segments;
mod subject;
mod table;
mod watcher;
