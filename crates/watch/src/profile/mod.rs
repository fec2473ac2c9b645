//! What processors are used for, of what can be told by the names of functions: from samples of where programs are, some
//! hundred a second (perf_event_open(2)).

mod activity;
mod functions;
mod profiler;
mod samples;
mod spent;

pub(crate) use profiler::Profile;
pub(crate) use spent::FREQUENCY;
pub use spent::Spent;
