//! The search for the capacity: the highest rate that a server which runs already keeps up with.
//!
//! A few closed loops, each with four times the clients of the one before, say what the server does in all, and how
//! that grows with concurrency. Open loops around that rate say where what waits only grows: a closed loop waits for
//! the server and does not see that. Nothing here does any input or output: results of probes come in, and the next
//! probe goes out ([`steps::Steps`]).

mod bracket;
pub(crate) mod findings;
pub(crate) mod options;
pub(crate) mod probe;
pub(crate) mod result;
mod scalability;
pub(crate) mod schedule;
pub(crate) mod steps;
