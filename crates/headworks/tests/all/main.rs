//! The program as its users see it. What takes the machine, or needs a process to itself, stands beside.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a panic is how a test reports")]

mod asked;
mod coming_from;
#[path = "../common/mod.rs"]
mod common;
mod documents;
mod gate;
mod gate_console;
mod gate_dashboard;
mod gate_hostile;
mod gate_log;
mod gate_output;
mod gate_service;
mod gate_started;
mod gate_telemetry;
mod load_import;
mod load_replay;
mod load_results;
mod metrics;
mod options;
mod origin;
mod report;
mod report_merged;
mod sessions;
mod sim;
mod sim_fit;
mod sim_interrupted;
mod sim_out;
mod sim_policy;
mod sim_sessions;
mod sim_sweep;
mod top;
mod view;
mod watch_kept;
