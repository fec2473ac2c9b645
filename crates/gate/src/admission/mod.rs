//! The policy in the event loop: requests are handed to it (`permit`), it has its cycles (`cycle`),
//! and what it decides is carried out (`driver`). `guard` tells it how much of the process's
//! descriptors and memory is used.

pub(crate) mod control;
pub(crate) mod cycle;
pub(crate) mod decision;
pub(crate) mod driver;
pub(crate) mod guard;
pub(crate) mod permit;
pub(crate) mod stage_latency;
