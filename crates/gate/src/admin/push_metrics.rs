//! Sending the metrics to a collector at intervals.

use std::rc::Rc;

use crate::admin::metrics;
use crate::process::gate::Gate;

/// Sends the metrics at intervals for as long as it is polled.
pub(crate) async fn push_metrics(gate: Rc<Gate>) {
    loop {
        let interval = gate.config().settings.telemetry.interval;
        tokio::time::sleep(interval).await;
        if gate.access_log.is_exporting() {
            gate.access_log.export(metrics::gather(&gate));
        }
    }
}
