//! The configuration file and what it comes to, as plain values.
//!
//! `file` is the file as it is written, `resolve` makes `root::Settings` of it or says what is wrong,
//! `describe` shows what every default came to, `change` what a later file changes. The other files
//! have a table each: how it is written, what it means, and how the one becomes the other.

pub mod admin;
mod change;
pub mod client;
mod describe;
pub mod explain;
pub mod field_names;
mod file;
mod forwarding;
pub mod http2;
pub mod listen_address;
pub mod listener;
mod number;
pub mod operation;
pub mod own_address;
pub mod page;
pub mod pages;
mod pattern;
mod policy;
pub mod reject;
mod resolve;
pub mod root;
mod schema;
pub mod secret;
pub mod session;
mod status;
mod strictness;
pub mod telemetry;
mod text;
pub mod token;
pub mod tunnels;
pub mod upstream;
pub mod waiting_room;
mod words;
