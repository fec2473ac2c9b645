//! OpenTelemetry: a span for each request that is recorded, and the metrics, sent to a collector
//! (OTLP over HTTP, as JSON).
//!
//! `context` reads and writes the header that carries a trace from server to server, `spans` makes what is
//! sent of requests, `exporter` is the thread that sends it.

use std::rc::Rc;

use crate::admin::metrics;
use crate::process::gate::Gate;

/// What of Headworks sends it.
pub(crate) const SCOPE: &str = "headworks.gate";

/// Sends the metrics at intervals for as long as it is polled.
pub(crate) async fn push_metrics(gate: Rc<Gate>) {
    loop {
        let interval = gate.live().settings.telemetry.interval;
        tokio::time::sleep(interval).await;
        if gate.journal.is_exporting() {
            gate.journal.export(metrics::gather(&gate));
        }
    }
}
