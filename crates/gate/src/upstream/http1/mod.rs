//! Connections to servers that speak HTTP/1.1: each carries one request at a time.
//!
//! A request is written, and its response read, by its own task and by nothing else (`exclusive`): no
//! task of the connection has to be woken for it, and nothing passes through a channel. Most requests
//! have no body, and stay at hand in case they have to be sent again. One with a body (`sending`) and
//! its response are under way at the same time; what is left of it when the response begins is sent by a
//! task of its own (`companion`). Between requests a connection is only a socket (`idle`);
//! what heads are written and read with, all connections have in turn (`scratch`).

pub(crate) mod companion;
pub(crate) mod exclusive;
pub(crate) mod idle;
pub(crate) mod patience;
mod scratch;
mod sending;
