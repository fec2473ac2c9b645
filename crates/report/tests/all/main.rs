//! Reports of records of every kind.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a panic is how a test reports")]

mod experiment;
#[path = "../fixture/mod.rs"]
mod fixture;
mod run;
mod search;
mod simulation;
mod watch;
