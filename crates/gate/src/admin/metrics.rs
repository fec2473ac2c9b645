//! `GET /metrics`: what Prometheus is told.

use policy::{ClassSnapshot, Counters, Policy, Reason};

use crate::admin::servers;
use crate::admission::stage_latency::STAGES;
use crate::downstream::handshakes::Counts;
use crate::process::gate::Gate;
use telemetry::Metrics;

/// All metrics of the gate.
pub(crate) fn gather(gate: &Gate) -> Metrics {
    let mut metrics = Metrics::default();
    let core = gate.admission.core.borrow();
    classes(&mut metrics, gate, core.policy());
    policy(&mut metrics, core.policy());
    let seconds = metrics.histogram(
        "headworks_gate_request_seconds",
        "Time of dispatched requests, by stage: in each queue, waiting in the gate in all, inside the server, total.",
    );
    for (class, name) in core.policy().class_snapshots().zip(gate.classes()) {
        for (stage, histogram) in STAGES.iter().zip(core.stages().of(class.class).into_iter().flatten()) {
            seconds.buckets(&[("class", name), ("stage", stage)], histogram.buckets());
        }
    }
    connections(&mut metrics, gate);
    front(&mut metrics, gate);
    servers::metrics(&mut metrics, gate);
    operation(&mut metrics, gate);
    metrics
}

type Read = fn(&Counters) -> u64;

fn classes(metrics: &mut Metrics, gate: &Gate, policy: &Policy) {
    let classes: Vec<(&str, ClassSnapshot)> =
        gate.classes().iter().map(String::as_str).zip(policy.class_snapshots()).collect();
    let counters: [(&'static str, &str, Read); 6] = [
        ("headworks_gate_arrived_total", "Requests whose class was known or found.", |c| c.arrived),
        ("headworks_gate_admitted_total", "Requests that joined their class queue.", |c| c.admitted),
        ("headworks_gate_held_back_total", "Requests held back at least once.", |c| c.held_back),
        ("headworks_gate_dispatched_total", "Requests sent to the server.", |c| c.dispatched),
        ("headworks_gate_finished_total", "Requests the server was done with.", |c| c.finished),
        ("headworks_gate_aborted_total", "Requests whose client went away.", |c| c.aborted),
    ];
    for (metric, help, read) in counters {
        let family = metrics.counter(metric, help);
        for (name, class) in &classes {
            family.sample(&[("class", name)], read(&class.counters));
        }
    }
    let rejected = metrics.counter("headworks_gate_rejected_total", "Requests refused, by reason.");
    let unclassified = policy.snapshot().unclassified;
    let all = classes.iter().map(|(name, class)| (*name, &class.counters));
    for (name, counters) in all.chain([("unclassified", &unclassified)]) {
        for reason in Reason::ALL {
            let labels = [("class", name), ("reason", reason.name())];
            rejected.sample(&labels, counters.rejected[reason.index()]);
        }
    }
    let queued = metrics.gauge("headworks_gate_class_queue", "Requests in the class queue.");
    for (name, class) in &classes {
        queued.sample(&[("class", name)], class.queued);
    }
    let target = metrics.gauge("headworks_gate_class_queue_target", "Target length of the class queue.");
    for (name, class) in &classes {
        target.sample(&[("class", name)], class.target);
    }
    let help = "How long clients wait before they give up, as far as is known.";
    let patience = metrics.gauge("headworks_gate_patience_seconds", help);
    for (name, class) in &classes {
        patience.sample(&[("class", name)], class.patience.as_secs_f64());
    }
    let admits = metrics.gauge("headworks_gate_admission_probability", "Probability of admission.");
    for (name, class) in &classes {
        admits.sample(&[("class", name), ("session", "existing")], class.admits_existing);
        admits.sample(&[("class", name), ("session", "new")], class.admits_new);
    }
}

fn policy(metrics: &mut Metrics, policy: &Policy) {
    let now = policy.snapshot();
    metrics
        .gauge("headworks_gate_queue", "Requests waiting, by stage.")
        .sample(&[("stage", "acceptor")], now.lengths.acceptor)
        .sample(&[("stage", "pending")], now.lengths.pending)
        .sample(&[("stage", "discard")], now.lengths.discard)
        .sample(&[("stage", "class")], now.lengths.class);
    metrics.gauge("headworks_gate_in_service", "Requests inside the server.").sample(&[], now.in_service);
    metrics.gauge("headworks_gate_window", "Requests that may be inside the server.").sample(&[], now.window);
    metrics
        .gauge("headworks_gate_express", "Places on top of the window that only important classes may take.")
        .sample(&[], now.express);
    metrics
        .gauge("headworks_gate_look_ahead", "Requests scanned for important ones, k.")
        .sample(&[], now.look_ahead);
    metrics.gauge("headworks_gate_quota", "Requests processed per cycle, m.").sample(&[], now.quota);
    metrics
        .gauge("headworks_gate_pressure", "Use of the scarcest resource, 0 to 1.")
        .sample(&[], now.pressure.as_f64());
    let knobs = policy.config().knobs;
    metrics
        .gauge("headworks_gate_knob", "The operator's knobs, 0 to 1.")
        .sample(&[("knob", "differentiation")], knobs.differentiation.as_f64())
        .sample(&[("knob", "favour")], knobs.favour.as_f64());
}

fn connections(metrics: &mut Metrics, gate: &Gate) {
    let failures =
        metrics.counter("headworks_gate_upstream_failures_total", "Requests without a response, by kind.");
    for (kind, count) in gate.proxy.failures.counts() {
        failures.sample(&[("kind", kind)], count);
    }
    let (opened, reused) = gate.pool.traffic();
    metrics
        .counter("headworks_gate_upstream_connections_total", "Connections opened to the upstream.")
        .sample(&[], opened);
    metrics
        .counter("headworks_gate_upstream_reuses_total", "Requests sent over an open connection.")
        .sample(&[], reused);
    metrics
        .gauge("headworks_gate_connections", "Connections open.")
        .sample(&[("side", "client")], gate.clients.open())
        .sample(&[("side", "upstream")], gate.pool.open());
    metrics
        .gauge("headworks_gate_upstream_connections_free", "Connections to the upstream without a request.")
        .sample(&[], gate.pool.free());
    metrics
        .gauge("headworks_gate_connections_limit", "Connections that may be open.")
        .sample(&[], gate.clients.connection_limit());
    metrics
        .gauge("headworks_gate_descriptors_limit", "Descriptors the process may have.")
        .sample(&[], gate.admission.guard.descriptors());
    let raised = metrics
        .counter("headworks_gate_sessions_raised_total", "Sessions raised to a higher class, by what.");
    for (by, count) in gate.proxy.raises.counts() {
        raised.sample(&[("by", by)], count);
    }
    let malformed = metrics
        .counter("headworks_gate_malformed_total", "Requests refused for how they are written, by reason.");
    for (reason, count) in gate.strictness.counts() {
        malformed.sample(&[("reason", reason)], count);
    }
    metrics
        .counter("headworks_gate_accept_failures_total", "Connections the kernel could not give.")
        .sample(&[], gate.admission.guard.accept_failures());
}

fn operation(metrics: &mut Metrics, gate: &Gate) {
    let (done, refused) = gate.reloads.counts();
    metrics
        .counter("headworks_gate_reloads_total", "Times that the configuration was read again, by result.")
        .sample(&[("result", "done")], done)
        .sample(&[("result", "refused")], refused);
    metrics
        .gauge("headworks_gate_draining", "Whether clients are sent elsewhere.")
        .sample(&[], u8::from(gate.proxy.is_draining()));
    let lines =
        metrics.counter("headworks_gate_log_lines_total", "Lines of the access log, by what became of them.");
    for (result, count) in gate.journal.counts().read() {
        lines.sample(&[("result", result)], count);
    }
    if gate.journal.is_exporting() {
        let sent = metrics
            .counter("headworks_gate_telemetry_total", "Requests to the collector, by what became of them.");
        for (result, count) in gate.journal.sent().read() {
            sent.sample(&[("result", result)], count);
        }
    }
}

fn front(metrics: &mut Metrics, gate: &Gate) {
    metrics
        .gauge("headworks_gate_http2_streams", "Open streams of clients' HTTP/2 connections.")
        .sample(&[], gate.clients.streams() as u64);
    metrics
        .counter("headworks_gate_http2_refused_streams_total", "Streams beyond the limit of all connections.")
        .sample(&[], gate.clients.refused_streams());
    metrics
        .gauge("headworks_gate_http2_unsent_bytes", "Of responses, what clients of HTTP/2 have not taken.")
        .sample(&[], gate.downstream.unsent.bytes());
    let Counts { done, failed, turned_away } = gate.downstream.handshakes.counts();
    let family =
        metrics.counter("headworks_gate_tls_handshakes_total", "TLS handshakes, by what came of them.");
    for (result, count) in [("done", done), ("failed", failed), ("turned-away", turned_away)] {
        family.sample(&[("result", result)], count);
    }
}
