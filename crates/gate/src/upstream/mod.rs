//! The server behind the gate: connections to it, and what becomes of a request in it.

mod body;
mod failure;
mod orphan;
mod pool;
mod relay;
mod send;

pub(crate) use body::Body;
pub(crate) use failure::{Failure, Failures};
pub(crate) use orphan::Orphans;
pub(crate) use pool::{Lease, Pool};
pub(crate) use relay::Relay;
pub(crate) use send::{Answer, in_service};
