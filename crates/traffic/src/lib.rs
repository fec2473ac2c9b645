//! Workload models: what users ask for, and when they come.
//!
//! A [`Workload`] is the script of a session: pages with embedded objects and pauses between
//! them, for classes of users that share the load. A [`model::Model`] is a workload of the
//! literature: the files that a server holds, and an endless stream of requests for them. A
//! [`Schedule`] says when sessions of which class start. All come out of a seed, so the same seed
//! gives the same run. No clock and no socket in here: the load generator asks for the next
//! arrival and does the waiting. [`import`] makes a workload of what others have recorded or described.

mod arrivals;
pub mod import;
mod mix;
pub mod model;
mod profile;
mod ramp;
mod schedule;
mod seed;
pub mod trace;
pub mod url;
mod workload;

pub use arrivals::{Arrivals, Gaps, MAX_CV, PoissonCheck, Process, ProcessError};
pub use mix::Mix;
pub use profile::Profile;
pub use ramp::{Level, Ramp, RampError};
pub use schedule::{Arrival, Schedule};
pub use workload::{
    Class, Condition, Data, Expect, Page, Place, Purpose, Request, Retry, StatusError, StatusSet, Take,
    Template, Think, ThinkError, Thinking, Unknown, Values, Workload,
};
