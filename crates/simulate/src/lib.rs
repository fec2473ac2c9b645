//! The whole gate (admission, downstream, upstream) on virtual time and simulated sockets.
//!
//! A [`scenario`] is drawn from a seed: the gate's configuration, servers behind it, clients of several kinds in front of it,
//! and what goes wrong in the network. A [`world`] runs it, and what ARCHITECTURE.md calls invariants is
//! checked while it runs and at its end; what does not hold is a [`finding`](ledger::Finding) with the seed that repeats it.
//! All that happens is written to a [`trace`], by which two runs of a seed are compared: they are the same to the byte.

pub mod answer;
pub mod client;
pub mod draw;
pub mod executor;
pub mod ledger;
pub mod page;
pub mod scenario;
pub mod server;
pub mod trace;
pub mod world;
