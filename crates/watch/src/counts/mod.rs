//! How many requests there were: every one, all of the time.
//!
//! | file | idea |
//! | --- | --- |
//! | `counts.bpf.c` | counts responses where they are sent |
//! | `traced` | its loader, and what it has counted |
//! | `counted` | by class and status, with the protocols of connections |

mod counted;
mod traced;

pub use counted::{Counted, OfClass, Protocols, Statuses};
pub(crate) use traced::Traced;
