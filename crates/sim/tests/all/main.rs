//! The simulator against papers, formulas and itself.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a panic is how a test reports")]

mod control;
mod equipment;
mod exact;
mod favour;
mod fleet;
mod forecast;
mod gated;
mod paper;
mod quota;
mod retries;
mod sessions;
mod slow_clients;
mod sweep;
mod tiers;
mod time_series;
