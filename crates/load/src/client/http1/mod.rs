//! HTTP/1 as seen from the client: framing, by crate `http1`. What it means for a request, an
//! [`Exchange`](crate::client::exchange::Exchange) decides.
//!
//! | file | idea |
//! | --- | --- |
//! | `head` | what the generator wants of the head of a response |
//! | `response` | where a response ends |
//! | `connection` | bytes in and out, plain and over TLS |
//! | `behind` | what came after the last response |
//! | `serial` | one request at a time on a connection |
//! | `pipeline` | several under way on a connection |

pub(crate) mod behind;
mod connection;
pub(crate) mod head;
pub(crate) mod pipeline;
pub(super) mod response;
pub(crate) mod serial;
