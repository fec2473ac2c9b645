//! Static content from an event loop per thread, for clients that must never wait.
//!
//! The first loop accepts and deals the connections out in turn: which thread wins a race for
//! accept(2) would decide how evenly they are spread.

mod connection;
mod event_loop;
pub(crate) mod loops;
