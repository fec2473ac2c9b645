//! The gate: a reverse proxy that decides who is served when not everybody can be.
//!
//! It accepts connections faster than the server behind it could, keeps the requests in queues of
//! its own and lets [`policy`] decide which of them the server gets, which wait and which are
//! refused with a `503`. One thread does everything, so decisions need no locks.
//!
//! A request's way: `downstream` (connections are accepted and HTTP is read) -> `dispatch` (one
//! request) -> `session` -> `admission` (the policy) -> `upstream` (servers, responses). Beside it stand
//! `clients` (connections and what they cost), `tunnel`, `observe` (access log, traces, events), `admin`
//! and `process` (start, reload, hand-over, end).
//!
//! ```no_run
//! let settings = gate::Settings::new("127.0.0.1:8080".parse()?, "127.0.0.1:8000")?;
//! let gate = gate::Bound::new(settings)?;
//! println!("listening on http://{}", gate.address());
//! gate.run(std::future::pending())?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod admin;
mod admission;
mod attach;
mod clients;
mod dispatch;
mod downstream;
#[cfg(any(test, feature = "fuzz"))]
pub mod fuzz;

mod http2;
mod observe;
mod process;
mod runtime;
mod session;
#[cfg(feature = "simulate")]
pub mod simulate;
mod start;
mod strict;
mod tunnel;
mod upstream;

pub use admin::operations::description;
pub use admission::lately::{Fate, Past};
pub use gate_config::Settings;
pub use gate_config::dry_run::{ExplainError, Explanation, Question};
pub use observe::console::Console;
pub use observe::foresight;
pub use process::check::{Checked, Names, check};
pub use process::drain::Ended;
pub use process::error::Error;
pub use process::explain::explain;
pub use process::handover::HandoverError;
pub use process::privileges::PrivilegeError;
pub use runtime::log::finish_saying;
pub use start::Bound;
