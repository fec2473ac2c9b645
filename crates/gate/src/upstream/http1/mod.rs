//! Connections to servers that speak HTTP/1.1: each carries one request at a time.
//!
//! Most requests have no body. Such a one (`bare`) is written, and its response read, by its own
//! task and by nothing else: no task of the connection has to be woken for it, nothing passes
//! through a channel, and the request stays at hand in case it has to be sent again. With a body,
//! request and response are under way at the same time, as they are when a connection becomes a
//! tunnel; that is left to hyper (`full`). Between requests a connection is only a socket (`idle`), so
//! that either can have it next.

pub(crate) mod bare;
pub(crate) mod exclusive;
pub(crate) mod full;
pub(crate) mod idle;
pub(crate) mod patience;
