//! HTTP/1 as seen from the client: framing. What it means for a request, an
//! [`Exchange`](crate::client::exchange::Exchange) decides.
//!
//! | file | idea |
//! | --- | --- |
//! | `head`, `chunked` | reading the head of a response, and a chunked body |
//! | `response` | where a response ends |
//! | `connection` | bytes in and out, plain and over TLS |
//! | `serial` | one request at a time on a connection |
//! | `pipeline` | several under way on a connection |

mod chunked;
mod connection;
pub(crate) mod head;
pub(crate) mod pipeline;
mod response;
pub(crate) mod serial;
