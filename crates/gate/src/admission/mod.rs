//! The policy in the event loop: requests are handed to it (`permit`), it has its cycles (`cycle`),
//! and what it decides is carried out (`driver`). `guard` tells it how much of the process's
//! descriptors and memory is used. What came of requests is kept for a second (`second`) and for minutes (`lately`).

pub(crate) mod control;
pub(crate) mod cycle;
pub(crate) mod decision;
pub(crate) mod driver;
pub(crate) mod guard;
mod held;
pub(crate) mod lately;
pub(crate) mod permit;
pub(crate) mod second;
pub(crate) mod stage_latency;
