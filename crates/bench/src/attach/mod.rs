//! `bench attach`: what a server carries that the gate is attached to, beside the bare server and proxies in front.

mod case;
pub(crate) mod command;
mod run;
mod subject;
mod table;
