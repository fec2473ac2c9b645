//! One user with a browser: sessions, requests, connections.

pub(crate) mod chunked;
pub(crate) mod connection;
pub(crate) mod context;
pub(crate) mod cookies;
pub(crate) mod fetch;
pub(crate) mod head;
pub(crate) mod http2;
pub(crate) mod lookup;
pub(crate) mod pipeline;
pub(crate) mod plan;
pub(crate) mod response;
pub(crate) mod session;
pub(crate) mod sock_diag;
pub(crate) mod tls;
