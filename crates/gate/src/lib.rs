//! The gate: a reverse proxy that decides who is served when not everybody can be.
//!
//! It accepts connections faster than the server behind it could, keeps the requests in queues of
//! its own and lets [`policy`] decide which of them the server gets, which wait and which are
//! refused with a `503`. One thread does everything, so decisions need no locks.
//!
//! A request's way, and the files it passes: `acceptor` (the listen queue is drained) ->
//! `client` (HTTP/1.1, slow clients) -> `exchange` (`sessions`, `ticket`) -> `core` (the policy;
//! `rules`) -> `upstream` (pool, response) -> `reply`, or `refuse`. Beside it stand `guard`
//! (descriptors, memory, timeouts) and `admin` (metrics, state, knobs).
//!
//! ```no_run
//! let settings = gate::Settings::new("127.0.0.1:8080".parse()?, "127.0.0.1:8000")?;
//! let gate = gate::Bound::new(settings)?;
//! println!("listening on http://{}", gate.address());
//! gate.run(std::future::pending())?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod acceptor;
mod admin;
mod bell;
mod bound;
mod client;
mod clock;
mod cookie;
mod core;
mod error;
mod events;
mod exchange;
mod explain;
mod forward;
mod forwarded;
mod front;
#[cfg(any(test, feature = "fuzz"))]
pub mod fuzz;
mod gate;
mod guard;
mod journal;
mod live;
mod marks;
mod operate;
mod overrides;
mod page;
mod refuse;
mod reply;
mod rules;
mod say;
mod sessions;
mod settings;
mod stages;
mod telemetry;
mod ticket;
mod token;
mod tunnel;
mod turn;
mod upstream;
mod verdict;
mod visit;

pub use bound::Bound;
pub use error::Error;
pub use explain::{Explanation, Question, explain};
pub use operate::{Ended, HandoverError, PrivilegeError};
pub use say::finish_saying;
pub use settings::Settings;
