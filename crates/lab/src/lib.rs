//! Experiments: tests of a server at the levels of a factor, all else fixed.
//!
//! [`run()`] reads a spec, finds what the server carries, offers multiples of that to the server
//! bare, behind the gate and behind other software, and keeps a record per test (`record::experiment`). Servers, gate and
//! generator are processes, fresh for each test; what the lab knows of a test is what they wrote.

mod capacity;
mod compare;
mod course;
mod error;
mod front;
mod gate;
mod http;
mod knee;
mod load;
mod outlook;
mod parts;
mod peer;
mod plan;
mod prediction;
mod resume;
mod run;
mod search;
mod server;
mod spec;
mod test;
mod validation;
mod verdict;
mod view;
mod watch;

pub use compare::{Comparison, Difference, compare};
pub use error::Error;
pub use knee::{
    Crowd, HOLD, LEAST_HOLD, LEAST_PRECISION, PRECISION, Search, arrivals, find, verdict, verdicts,
};
pub use outlook::{Coming, Outlook, outlook};
pub use run::{Finished, Options, run};
pub use spec::schema;
pub use testbed::Stop;
