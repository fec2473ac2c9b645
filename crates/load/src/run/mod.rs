//! A run from its beginning to its end.
//!
//! | file | idea |
//! | --- | --- |
//! | `lifecycle` | prepares a run, starts its threads, and finishes its record |
//! | `worker` | one thread that generates load |
//! | `watcher` | looks at all threads, for views and samples |
//! | `stopping` | whether it ends before its time |
//! | `report`, `text` | how it ended, and the summary for people |
//! | `common` | what its threads share |

mod common;
pub(crate) mod lifecycle;
pub(crate) mod report;
mod stopping;
mod text;
mod watcher;
mod worker;
