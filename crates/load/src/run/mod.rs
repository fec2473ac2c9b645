//! A run from its beginning to its end, its threads, and its report.

pub(crate) mod lifecycle;
pub(crate) mod report;
pub(crate) mod text;
pub(crate) mod thread;
pub(crate) mod watcher;
