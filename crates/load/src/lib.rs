//! Load generator: open-loop sessions and closed loop, every request split into phases.
//!
//! Each thread has a reactor and the tasks of its clients: those of an open loop start what
//! the schedule wants, those of a closed loop go round and round. Clients open their own
//! connections, so that connecting, processing and transfer can be told apart; a stopwatch on
//! every request becomes figures and, with a run directory, a row. Beside the figures stands
//! whether they are the server's: a generator that ran out of processor, fell behind its
//! schedule, or had no descriptor left says so.
//!
//! Rooms, each of which uses those below it only:
//!
//! | room | what lives there |
//! | --- | --- |
//! | `run` | a run from its beginning to its end, its threads, its report |
//! | `merge` | several records as one |
//! | `output` | what is written: the record, and files for other programs |
//! | `show` | what people and scrapers see while it lasts |
//! | `schedule` | when requests and sessions start |
//! | `client` | what a user does: sessions, requests, connections, both versions of HTTP |
//! | `settings` | what a run is to do |
//! | `measure` | from a stopwatch on every request to figures, rows, and whether they are the server's |
//! | `engine` | sockets, timers and tasks of a thread, over io_uring or epoll |

mod client;
mod engine;
mod error;
mod measure;
mod merge;
mod names;
mod output;
mod run;
mod schedule;
mod settings;
mod show;

pub use engine::backend::Backend;
pub use error::Error;
pub use measure::objective::{Objective, ObjectiveError, RunFeatures};
pub use measure::percentile::{Percentile, PercentileError};
pub use merge::error::MergeError;
pub use merge::together::merge;
pub use names::UnknownName;
pub use output::error::OutputError;
pub use run::lifecycle::run;
pub use run::report::Report;
pub use settings::checks::{Checks, DigestError, Sha256Digest};
pub use settings::exports::ExportPaths;
pub use settings::options::{Http, Identity, Load, Options, Protocol, Request, Script, TlsVersion};
pub use settings::stop::{StopWhen, StopWhenError};
pub use settings::target::{Target, TargetError, Via};
pub use settings::view::View;
