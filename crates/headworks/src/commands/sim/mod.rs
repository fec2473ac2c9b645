//! `headworks sim`: simulates a server in overload.

mod advise;
mod behind;
pub(crate) mod command;
mod exact;
mod fit;
mod model;
mod plan;
mod planner;
mod recorded;
mod recovery;
mod run;
mod search;
mod sessions;
mod sweep;
mod view;
mod wait;
