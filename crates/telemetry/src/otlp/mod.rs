//! OpenTelemetry's protocol over HTTP, as JSON: what is sent to a collector, and the way there.

mod collector;
mod metrics;
mod value;

pub use collector::Collector;
pub use metrics::metrics;
pub use value::{attribute, integer, resource, scope, seconds, text, time};
