//! Requests as a server reads them.
//!
//! A request that two programs understand differently is how one client speaks in the name of
//! another: the proxy sees one request, the server behind it two. So requests can be read strictly:
//! [`Filter`] lets pass what can be read in one way, whole heads and correctly framed bodies, and a
//! [`Breach`] ends what is read. `strict` reads a head line by line, `screen` follows a connection
//! through heads and bodies, `target` knows what targets and hosts look like. HTTP/2 has frames
//! instead of lines; what its requests would mean as HTTP/1, [`decoded()`] looks at.
//!
//! [`Head`] is what a server reads that passes nothing on: as forgiving as RFC 9112 allows.

mod breach;
mod decoded;
mod filter;
mod framing;
mod head;
mod limits;
mod screen;
mod strict;
mod target;

pub use breach::Breach;
pub use decoded::decoded;
pub use filter::{Filter, Stop};
pub use framing::Framing;
pub use head::{Head, Meaning};
pub use limits::Limits;
