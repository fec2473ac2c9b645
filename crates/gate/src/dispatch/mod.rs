//! The way of one request (`exchange`): session, policy, upstream, response or refusal.

pub(crate) mod debug_headers;
pub(crate) mod exchange;
pub(crate) mod refusal;
pub(crate) mod refusal_page;
pub(crate) mod response_body;
pub(crate) mod snapshot;
