//! `bench gate`: what a request costs `headworks gate`, beside HAProxy and nginx in the same run.

mod case;
pub(crate) mod command;
pub(crate) mod hold;
mod plan;
mod protocol;
mod proxy;
mod run;
mod table;
