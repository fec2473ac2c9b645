//! What the monitor saw: the tables of the paper on Webmonitor with what was measured in them, one column for
//! each class, program or watch, and figures over time. Several watches side by side are compared.

mod headline;
mod method;
pub(crate) mod model;
mod read;
mod tables;
mod terminal;
mod time;
mod watched;
