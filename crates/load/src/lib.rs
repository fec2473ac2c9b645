//! Load generator: open-loop sessions and closed loop, every request split into phases.
//!
//! One thread runs everything: a generator task starts what the schedule wants ([`Load::Open`])
//! or clients that go round and round ([`Load::Closed`]); each client is a task that opens its
//! own connections, so that connecting, processing and transfer can be told apart; a stopwatch
//! on every request becomes a row, and rows become the summary and, with a run directory, the
//! record. Beside the figures stands whether they are the server's: a generator that ran out of
//! processor, fell behind its schedule, or had no descriptor left says so.
//!
//! | file | idea |
//! | --- | --- |
//! | `generate` | when things start |
//! | `session`, `fetch` | what a user does; one request |
//! | `connection`, `response`, `chunked`, `cookies` | HTTP/1.1 as seen from the client |
//! | `sock_diag` | how often a SYN was sent again |
//! | `phases`, `tally`, `recorder` | from a stopwatch to rows and figures |
//! | `engine`, `run`, `alarms`, `clock` | shared state, beginning and end, time |
//! | `validity`, `objective`, `text`, `progress` | what is said about it |

mod alarms;
mod chunked;
mod clock;
mod connection;
mod cookies;
mod engine;
mod error;
mod fetch;
mod generate;
mod objective;
mod options;
mod phases;
mod plan;
mod progress;
mod recorder;
mod report;
mod response;
mod run;
mod session;
#[allow(dead_code, reason = "the engine does not show itself yet")]
mod show;
mod sock_diag;
mod tally;
mod target;
mod text;
mod validity;

pub use error::Error;
pub use objective::{Objective, ObjectiveError};
pub use options::{Load, Options, Script};
pub use report::Report;
pub use run::run;
pub use show::{EndpointError, MetricsAddress, MetricsAddressError, View};
pub use target::{Target, TargetError};
