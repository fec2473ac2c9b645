//! SURGE: heavy-tailed files, requests with popularity and locality, users who pause.
//!
//! Barford and Crovella, "Generating Representative Web Workloads for Network and Server
//! Performance Evaluation", SIGMETRICS 1998. `files` makes the lengths, `popularity` says how
//! often each file is asked for, `sequence` in which order.

pub(super) mod data_set;
mod files;
mod popularity;
mod requests;
mod sequence;

pub(super) use self::requests::{Surge, files_and_requests};
