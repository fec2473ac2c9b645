//! `headworks attach`.

pub(crate) mod command;
mod hindrances;
mod library;
mod server;
mod unit;
