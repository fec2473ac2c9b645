//! What users see while a run lasts.
//!
//! A [`Snapshot`](snapshot::Snapshot) is made about once a second and given away; views run on threads of their own, at
//! the lowest priority, so that nothing that happens to them, a terminal that is not read or a scraper
//! that hangs, reaches the measurement.
//!
//! | file | idea |
//! | --- | --- |
//! | `snapshot` | a run at one moment |
//! | `viewers` | the views and the endpoint, and how they are given snapshots |
//! | `plain` | lines |
//! | `live` | the picture on a terminal |
//! | `metrics` | what scrapers and a collector are told |

mod live;
mod metrics;
mod plain;
#[cfg(test)]
mod samples;
pub(crate) mod snapshot;
pub(crate) mod viewers;
