//! Load generator: open-loop sessions and closed loop, every request split into phases.
//!
//! Each thread has a reactor and the tasks of its clients: those of an open loop start what
//! the schedule wants, those of a closed loop go round and round. Clients open their own
//! connections, so that connecting, processing and transfer can be told apart; a stopwatch on
//! every request becomes figures and, with a run directory, a row. Beside the figures stands
//! whether they are the server's: a generator that ran out of processor, fell behind its
//! schedule, or had no descriptor left says so.
//!
//! | file | idea |
//! | --- | --- |
//! | `run`, `worker`, `watcher`, `writer` | a run; its threads; who looks at them; who writes rows |
//! | `io` | sockets and alarms over io_uring or epoll, and the tasks above them |
//! | `generate` | when things start |
//! | `session`, `fetch`, `pipeline` | what a user does; one request; several on one connection |
//! | `connection`, `response`, `head`, `chunked`, `cookies` | HTTP/1 as seen from the client |
//! | `http2`, `tls`, `lookup` | HTTP/2; encryption; names |
//! | `sock_diag` | how often a SYN was sent again |
//! | `phases`, `finished`, `tally`, `recorder` | from a stopwatch to figures and rows |
//! | `checks`, `validity`, `objective` | is it what was asked for, the server's, enough |
//! | `show`, `text` | what people see while it runs, and after |

mod checks;
mod chunked;
mod clock;
mod connection;
mod cookies;
mod engine;
mod error;
mod fetch;
mod finished;
mod generate;
mod head;
mod http2;
mod io;
mod lookup;
mod objective;
mod options;
mod phases;
mod pipeline;
mod plan;
mod recorder;
mod report;
mod response;
mod run;
mod session;
mod show;
mod sock_diag;
mod tally;
mod target;
mod text;
mod tls;
mod validity;
mod watcher;
mod worker;
mod writer;

pub use checks::{Checks, DigestError, Sha256Digest, StatusError, StatusSet};
pub use error::Error;
pub use objective::{Objective, ObjectiveError};
pub use options::{Backend, Http, Load, Options, Protocol, Request, Script, Think, UnknownName};
pub use report::Report;
pub use run::run;
pub use show::View;
pub use target::{Target, TargetError, Via};
