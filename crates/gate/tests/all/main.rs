//! The gate as its clients, servers and operators see it. One program, since each of these would hold the gate once more;
//! what needs a process to itself stands beside.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a panic is how a test reports")]

mod admin;
mod admin_access;
mod admin_console;
mod admin_events;
mod admin_openapi;
mod bound;
mod certificates;
mod circles;
mod client_share;
#[path = "../common/mod.rs"]
mod common;
#[path = "../common/corpus.rs"]
mod corpus;
mod early_answers;
#[path = "../common/h2_server.rs"]
mod h2_server;
mod handover;
mod hostile;
mod http;
mod http2;
mod http2_hostile;
mod http2_interim;
mod http2_upstream;
mod listeners;
mod mixing;
mod operation;
mod pages;
mod rebuilt;
mod relayed;
mod rest;
mod schema;
mod servers;
mod session_class;
mod sessions;
mod settings;
mod smuggling;
mod streams;
mod strictness;
mod tls;
mod tls_upstream;
mod tokens;
mod tunnels;
mod upstream;
mod upstream_settings;
mod waiting_page;
mod waiting_room;
