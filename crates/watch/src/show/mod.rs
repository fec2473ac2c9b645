//! What users see of a watch while it lasts.
//!
//! A [`Snapshot`](crate::Snapshot) is made at every look and given away; views run on threads of their own, at the
//! lowest priority, so that nothing that happens to them, a terminal that is not read or a scraper that hangs,
//! reaches the watch or the server.
//!
//! | file | idea |
//! | --- | --- |
//! | `viewers` | the views, the endpoint for scrapers and what sends to a collector, and how they get snapshots |
//! | `live` | the picture on a terminal, tab by tab |
//! | `metrics` | what Prometheus and OpenTelemetry are told |

mod live;
mod metrics;
#[cfg(test)]
mod samples;
pub(crate) mod viewers;
