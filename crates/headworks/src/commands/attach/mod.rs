//! `headworks attach`.

pub(crate) mod command;
mod library;
mod server;
mod unit;
