//! When requests and sessions start.
//!
//! | file | idea |
//! | --- | --- |
//! | `start` | from the options to tasks |
//! | `open_loop`, `pool` | by a schedule |
//! | `closed_loop` | when the one before has ended |
//! | `source` | what is asked for |

mod closed_loop;
mod open_loop;
mod pool;
mod source;
pub(crate) mod start;
