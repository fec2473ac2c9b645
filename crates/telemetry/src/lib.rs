//! Metrics for the monitoring that users have already.
//!
//! | file | idea |
//! | --- | --- |
//! | `metrics` | metrics being gathered, and Prometheus' text |
//! | `endpoint` | an HTTP server for scrapers that survives all of them |
//! | `otlp` | OpenTelemetry's JSON over HTTP, and the way to a collector |

mod endpoint;
mod metrics;
pub mod otlp;

pub use endpoint::{Endpoint, EndpointError, MetricsAddress, MetricsAddressError, Page};
pub use metrics::{Buckets, CONTENT_TYPE, Family, Kind, Metrics, Sample, Value};
