//! OpenTelemetry's protocol over HTTP, as JSON: what is sent to a collector, and the way there.

mod collector;
mod exporter;
mod metrics;
mod value;

pub use collector::Collector;
pub use exporter::{Exporter, Origin};
pub use metrics::metrics;
pub use value::{attribute, integer, resource, scope, seconds, text, time};
