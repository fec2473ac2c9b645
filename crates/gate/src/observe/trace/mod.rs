//! OpenTelemetry: a span for each request that is recorded, and the metrics, sent to a collector
//! (OTLP over HTTP, as JSON).
//!
//! `context` reads and writes the header that carries a trace from server to server, `spans` makes what is
//! sent of requests, `exporter` is the thread that sends it.

pub(crate) mod context;
pub(crate) mod exporter;
pub(crate) mod spans;
