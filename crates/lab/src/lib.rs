//! Experiments: tests of a server at the levels of a factor, all else fixed.
//!
//! [`run()`] reads a spec, finds what the server carries, offers multiples of that to the server
//! bare, behind the gate and behind other software, and keeps a record per test (`record::experiment`). Servers, gate and
//! generator are processes, fresh for each test; what the lab knows of a test is what they wrote.
//!
//! From low to high: the `spec` as values; the `server` and its contenders (`contender`); the `load` generator; the
//! `search` for a capacity, without input or output; the `verdict` on its cause; and what runs (`run`) all of it.

mod compare;
mod contender;
mod error;
mod http;
mod load;
mod monitor;
mod progress;
mod run;
mod search;
mod server;
mod spec;
mod verdict;
mod view;

pub use compare::baseline::{Change, SeriesComparison, compare_with_series};
pub use compare::comparison::{Comparison, Difference, compare};
pub use error::Error;
pub use run::confirm::confirm;
pub use run::dry_run::{DryRun, PlannedTest, dry_run};
pub use run::experiment::run;
pub use run::find::find;
pub use run::options::{Finished, Options};
pub use run::serve::{Serving, serve};
pub use search::options::SearchOptions;
pub use spec::crowd::Crowd;
pub use spec::defaults::{HOLD, MIN_HOLD, MIN_PRECISION, PRECISION, arrivals};
pub use spec::schema::schema;
pub use testbed::Stop;
pub use verdict::again::{verdict, verdict_with, verdicts};
