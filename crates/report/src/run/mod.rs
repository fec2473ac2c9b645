//! One run of the load generator: everything that its page shows, from its record alone.
//!
//! The requests are read row by row and never held: what is kept of them is histograms, one for
//! each phase, step, stretch of time and frequent URL, so that memory does not grow with the run.

mod facts;
mod headline;
mod latency;
pub(crate) mod model;
mod read;
mod requests;
mod sizes;
mod steps;
mod terminal;
mod timeline;
mod urls;
