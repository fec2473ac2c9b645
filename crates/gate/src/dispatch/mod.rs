//! The way of one request (`exchange`): session, policy, upstream, response or refusal.

pub(crate) mod abandoned;
pub(crate) mod active_config;
pub(crate) mod debug_headers;
pub(crate) mod dispatcher;
pub(crate) mod exchange;
pub(crate) mod explanation;
pub(crate) mod in_service;
pub(crate) mod proxy;
pub(crate) mod refusal;
pub(crate) mod refusal_page;
pub(crate) mod relay;
pub(crate) mod response_body;
pub(crate) mod session;
pub(crate) mod turn;
mod upgrade;
mod waiting_room;
