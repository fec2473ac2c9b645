//! The admin interface: metrics for Prometheus, the state and the queue as JSON, the operator's
//! knobs and what they would do, the class of a session, the last hour, what happens as it happens, and a console that shows it.
//!
//! It has a listener of its own (`server`), so it answers when clients' connections are used up. `access`
//! decides who is answered, `operations` lists and describes what can be asked.

pub(crate) mod access;
pub(crate) mod answer;
pub(crate) mod changes;
pub(crate) mod console;
pub(crate) mod foresight;
pub(crate) mod history;
pub(crate) mod knobs;
pub(crate) mod local;
pub(crate) mod metrics;
pub(crate) mod mode;
pub(crate) mod operate;
pub(crate) mod operations;
pub(crate) mod push_metrics;
pub(crate) mod query;
pub(crate) mod queue;
pub(crate) mod server;
pub(crate) mod servers;
pub(crate) mod sessions;
pub(crate) mod state;
pub(crate) mod stream;
pub(crate) mod token;
pub(crate) mod verdict;
pub(crate) mod watch;
