//! What a user does: sessions of pages, pages of requests, requests over connections.
//!
//! | file | idea |
//! | --- | --- |
//! | `session`, `fetch` | a user from page to page; one request, sent again where that is allowed |
//! | `exchange`, `fault`, `facts`, `inspector` | what happens to a request and its response, whatever the version of HTTP |
//! | `http1`, `http2` | framing |
//! | `attempt`, `connect`, `tls`, `lookup`, `address` | a request's way from a name to a connection, and to its row |
//! | `plan`, `catalogue`, `wanted`, `request`, `script`, `logged`, `redirect`, `cookies`, `user` | what requests look like, and on whose behalf they are sent |
//! | `context`, `setup` | what all clients of a thread, and all threads, share |
//! | `sock_diag` | how often a SYN was sent again |

pub(crate) mod address;
pub(crate) mod attempt;
mod catalogue;
mod connect;
pub(crate) mod context;
mod cookies;
mod exchange;
mod facts;
mod fault;
pub(crate) mod fetch;
pub(crate) mod http1;
mod http2;
mod inspector;
mod logged;
mod lookup;
pub(crate) mod plan;
mod redirect;
mod request;
mod script;
pub(crate) mod session;
pub(crate) mod setup;
mod sock_diag;
mod tls;
pub(crate) mod user;
pub(crate) mod wanted;
