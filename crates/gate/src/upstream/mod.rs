//! The servers behind the gate: which gets a request, connections to them, and what becomes of a
//! request there.
//!
//! `send` asks the `pool` for a server (`balance`, `health`), gets a connection to it (`connect`, `http1`, or
//! `http2` where many requests share one) and, while that does no harm and the `budget` allows it, asks
//! another. Beside that stand `check`, which asks servers how they are, and `names`, which looks where
//! they are.

pub(crate) mod balance;
pub(crate) mod body;
pub(crate) mod bound;
pub(crate) mod budget;
pub(crate) mod check;
pub(crate) mod connect;
pub(crate) mod endpoints;
pub(crate) mod failure;
pub(crate) mod first_answer;
pub(crate) mod health;
pub(crate) mod http1;
pub(crate) mod http2;
mod last_words;
pub(crate) mod lease;
pub(crate) mod names;
pub(crate) mod outgoing;
pub(crate) mod pool;
pub(crate) mod send;
pub(crate) mod server;
pub(crate) mod target;
pub(crate) mod tls;
pub(crate) mod unanswered;
pub(crate) mod upgrade;
