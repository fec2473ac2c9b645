//! `headworks lab` as a process: experiments, searches for the capacity, comparisons. They wait more than they compute.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod capacity;
mod compare;
mod run;
mod search;
mod searches;
mod serve;

const HEADWORKS: &str = env!("CARGO_BIN_EXE_headworks");

/// What a process wrote.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
