//! `headworks watch`: the monitor of a server and its kernel, and what it has left.

pub(crate) mod command;
mod read;
mod run;
