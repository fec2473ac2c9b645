//! Requests to the admin interface, over whatever leads to it.
//!
//! | file | idea |
//! | --- | --- |
//! | `wire`, `way` | connections to a place |
//! | `ssh` | the user's own ssh, as a connection or as a socket that leads to the far side |
//! | `client` | requests and answers, with limits of size and time |
//! | `sse` | server-sent events, as bytes |
//! | `listening` | events of a gate as they come |

pub(crate) mod client;
pub(crate) mod listening;
pub(crate) mod sse;
mod ssh;
mod way;
mod wire;
