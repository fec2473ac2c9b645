//! The simulation itself: one clock, two things that can happen next.
//!
//! A [`source`] says when requests come; a [`server`] has a
//! limited number of threads, a queue before them, and a [`Processor`]
//! that the threads share. Whichever of the next arrival and the next completion is earlier
//! happens. Time is a `f64` of seconds, not integer nanoseconds: virtual time under processor
//! sharing advances by fractions of them.

mod any;
mod closed;
mod delay;
mod door;
mod fleet;
mod gated;
mod job;
mod later;
mod processor;
mod ranked;
mod replicate;
mod request;
mod returning;
mod server;
mod serving;
mod sharing;
mod simulation;
mod slices;
mod source;
mod stations;
mod throttled;

pub(crate) use self::job::Job;
pub(crate) use self::processor::Processor;
pub(crate) use self::replicate::{Length, replicate};
pub(crate) use self::sharing::Sharing;
