//! The configuration file and what it comes to, as plain values.
//!
//! `file` is the file as it is written, `resolve` makes `root::Settings` of it or says what is wrong,
//! `describe` shows what every default came to, `change` what a later file changes. The other files
//! have a table each: how it is written, what it means, and how the one becomes the other.

pub(crate) mod admin;
pub(crate) mod change;
pub(crate) mod client;
pub(crate) mod describe;
pub(crate) mod explain;
pub(crate) mod file;
pub(crate) mod forwarding;
pub(crate) mod http2;
pub(crate) mod listen_address;
pub(crate) mod listener;
pub(crate) mod number;
pub(crate) mod operation;
pub(crate) mod page;
pub(crate) mod pattern;
pub(crate) mod policy;
pub(crate) mod reject;
pub(crate) mod resolve;
pub(crate) mod root;
pub(crate) mod schema;
pub(crate) mod secret;
pub(crate) mod session;
pub(crate) mod strictness;
pub(crate) mod telemetry;
pub(crate) mod text;
pub(crate) mod token;
pub(crate) mod tunnels;
pub(crate) mod upstream;
pub(crate) mod words;
