//! When requests and sessions start.
//!
//! | file | idea |
//! | --- | --- |
//! | `start` | from the options to tasks |
//! | `open_loop`, `pool` | by a schedule |
//! | `closed_loop` | when the one before has ended |
//! | `expected` | what a schedule makes expect of the starts in the window |
//! | `source` | what is asked for |

mod closed_loop;
pub(crate) mod expected;
mod open_loop;
mod pool;
mod source;
pub(crate) mod start;
