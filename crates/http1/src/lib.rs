//! HTTP/1 as bytes: no sockets, no clock, no threads.
//!
//! One codec for everything here that speaks HTTP/1. Bytes that have come go in, however they were
//! cut; what they mean comes out, and what is wrong with them is an error of this crate's own.
//! Nothing is waited for, and all that is kept is bounded.
//!
//! [`request`] and [`response`] read messages, [`chunks`] decodes bodies for both, [`headers`] has
//! the fields that a proxy reads, takes out and writes, [`proxy_protocol`] what proxies say before
//! the first request. [`fields`] reads header lines in place. Rooms, from low to high:
//! `characters`, `fields`, `headers`, `proxy_protocol`, `chunks`, `request` and `response`; each imports
//! only those before it.

mod characters;
pub mod chunks;
pub mod fields;
pub mod headers;
pub mod proxy_protocol;
pub mod request;
pub mod response;
