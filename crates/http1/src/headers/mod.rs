//! Header fields that a proxy reads, takes out and writes.

pub mod caching;
pub mod cookie;
mod cookie_date;
pub mod forwarded;
pub mod hop_by_hop;
pub(crate) mod names;
pub mod set_cookie;
