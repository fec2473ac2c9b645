//! The server as its clients see it.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a panic is how a test reports")]

mod common;
mod content;
mod delay;
mod listening;
mod requests;
mod sockets;
