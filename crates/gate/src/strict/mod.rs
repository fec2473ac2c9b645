//! What clients send is looked at byte by byte before hyper reads it as HTTP/1.
//!
//! hyper forgives what RFC 9112 allows to be forgiven (a line that ends with LF alone, a length
//! beside chunks), and what it forgives can not be seen afterwards. So it gets only what can be read
//! in one way: `filter` puts [`http1::request::Filter`] between socket and hyper. A breach ends what
//! is read. Requests before it are answered, then the client is told.

pub(crate) mod checked;
pub(crate) mod filter;
pub(crate) mod strictness;
