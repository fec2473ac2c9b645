//! Metrics for the monitoring that users have already: one writer for Prometheus and one for OpenTelemetry.
//!
//! What is gathered is of metrics in the catalogue; names, kinds, labels and help come from there.
//!
//! | file | idea |
//! | --- | --- |
//! | `gathered` | metrics as they are gathered: families and samples |
//! | `text` | the text formats of Prometheus and of OpenMetrics |
//! | `address`, `endpoint` | an HTTP server for scrapers, and where it listens |
//! | `otlp` | OpenTelemetry's JSON over HTTP, and the way to a collector |
//! | `publisher` | a run's snapshots for scrapers and a collector, while it lasts |

mod address;
mod endpoint;
mod gathered;
pub mod otlp;
mod publisher;
mod text;

pub use address::{MetricsAddress, MetricsAddressError};
pub use endpoint::{Endpoint, EndpointError};
pub use gathered::{Buckets, Family, Metrics, Number, Sample, Value};
pub use publisher::{Publisher, Source};
pub use text::Format;
