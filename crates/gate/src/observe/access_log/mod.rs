//! What became of each request: the access log, and what traces are made of.
//!
//! An `account` follows a request and hands its `entry` in when it is over. The `log` gathers entries
//! and passes them on in batches; making text of them (`line`) and writing it is done by a thread of its
//! own (`writer`), to which nothing is passed that it cannot take at once.

pub(crate) mod account;
pub(crate) mod entry;
pub(crate) mod line;
pub(crate) mod log;
pub(crate) mod writer;
