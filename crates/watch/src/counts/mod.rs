//! How many requests there were: every one, all of the time.
//!
//! | file | idea |
//! | --- | --- |
//! | `counts.bpf.c` | counts responses where they are sent |
//! | `responses.h` | what is counted |
//! | `frames.h` | responses in the frames of HTTP/2 |
//! | `tls.h` | responses inside TLS |
//! | `traced` | its loader, and what it has counted |
//! | `libraries`, `go` | where a server gives to TLS what it sends: functions of its libraries, and of its own |
//! | `counted` | by class and status, with the protocols of connections |

mod counted;
mod go;
mod libraries;
mod traced;

pub use counted::{Counted, OfClass, Protocols, Statuses};
pub(crate) use traced::Traced;
