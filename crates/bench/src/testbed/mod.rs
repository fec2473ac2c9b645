//! What generators are measured against: a server on a processor of its own, in a network of its own.

mod isolation;
mod server;

pub(crate) use isolation::Isolation;
pub(crate) use server::{Server, Site, Software, version};

/// The processor that the server has to itself.
pub(crate) const SERVER_CPU: &str = "0";
/// The processor that the generator has to itself.
pub(crate) const GENERATOR_CPU: &str = "1";
