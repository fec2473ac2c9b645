//! The servers behind the gate: which gets a request, connections to them, and what becomes of a
//! request there.
//!
//! `send` asks the `pool` for a server (`balance`, `health`), gets a `connection` to it (`http1`,
//! or `http2` where many requests share one) and, while that does no harm and the `budget` allows it, asks
//! another. `relay` passes the response on. Beside that stand `check`, which asks servers how they
//! are, and `names`, which looks where they are.

mod balance;
mod body;
mod budget;
mod check;
mod connection;
mod failure;
mod health;
mod http1;
mod http2;
mod names;
mod orphan;
mod pool;
mod relay;
mod send;
mod server;
mod target;
mod tls;
mod unanswered;

pub(crate) use body::{Ahead, Body, Progress};
pub(crate) use check::check;
pub(crate) use connection::{Lease, Open};
pub(crate) use failure::{Failure, Failures};
#[cfg(any(test, feature = "fuzz"))]
pub(crate) use http1::trial::try_on as try_responses;
pub(crate) use names::{Found, find, follow};
pub(crate) use orphan::Orphans;
pub(crate) use pool::Pool;
pub(crate) use relay::Relay;
pub(crate) use send::{Answer, Unsent, in_service};
pub(crate) use server::Server;
pub(crate) use tls::Authorities;
