//! What is measured against what: servers and generators on processors of their own, in a network of
//! their own.

mod certificate;
mod isolation;
mod running;
mod server;

pub(crate) use certificate::certificate;
pub(crate) use isolation::Isolation;
pub(crate) use running::Server;
pub(crate) use server::{Site, Software, version};

/// The processor that the server has to itself.
pub(crate) const SERVER_CPU: &str = "0";
/// The processor that the generator has to itself.
pub(crate) const GENERATOR_CPU: &str = "1";
