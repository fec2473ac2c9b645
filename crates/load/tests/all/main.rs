//! The generator against servers of every kind. One program, since each of these would hold the generator once more;
//! what needs a process to itself stands beside.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a panic is how a test reports")]

#[path = "../common/mod.rs"]
mod common;
mod hostile;
mod hostile_encrypted;
mod record;
mod replay;
mod servers;
mod servers_encrypted;
mod servers_failing;
mod sessions;
mod versions;
