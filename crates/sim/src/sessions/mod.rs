//! Sessions, and the policy in front of the server.
//!
//! A [`SessionModel`] is users who follow a script, page after page, and give up when an answer
//! takes too long; a server with a worker for each connection; and, if there is a [`Gate`], the
//! same `policy` crate that `headworks gate` runs, driven on virtual time.
//!
//! A request's way, and the files it passes: `users` (whose turn it is, and what comes next) ->
//! [`Front`](crate::front::Front) (the policy) -> `server` (listen queue, workers, processor). `world` is the loop that
//! calls them, `events` what will happen when nothing else does before.

mod bound;
mod events;
mod model;
mod outcome;
mod replication;
mod run;
mod seen;
mod server;
mod tally;
mod users;
mod world;

pub(crate) use self::model::WayPage;
pub use self::model::{Gate, Host, Script, SessionModel};
pub use self::outcome::{SessionClassOutcome, SessionIntervalOutcome, SessionLevelOutcome, SessionsOutcome};
pub(crate) use self::replication::Replication;
pub use self::run::{run_sessions, run_sessions_under};
pub(crate) use self::tally::Summary;
