//! What the targets of `fuzz/` try. Each takes any bytes, and panics when something is wrong.

pub(crate) mod against_hyper;
pub(crate) mod chunks;
pub(crate) mod cookies;
pub(crate) mod forwarded;
pub(crate) mod proxy_headers;
pub(crate) mod requests;
pub(crate) mod responses;
