//! `GET /metrics`: what Prometheus is told.

use policy::{ClassSnapshot, Counters, Policy, Reason};

use super::servers;
use super::text::Text;
use crate::front::Counts;
use crate::gate::Gate;
use crate::stages::STAGES;

/// All metrics of the gate.
pub(crate) fn gather(gate: &Gate) -> Text {
    let mut text = Text::default();
    let core = gate.core.borrow();
    classes(&mut text, gate, core.policy());
    policy(&mut text, core.policy());
    let seconds = text.histogram(
        "headworks_gate_request_seconds",
        "Time of dispatched requests, by stage: in each queue, waiting in the gate in all, inside the server, total.",
    );
    for (class, name) in core.policy().class_snapshots().zip(&gate.classes) {
        for (stage, histogram) in STAGES.iter().zip(core.stages().of(class.class).into_iter().flatten()) {
            seconds.buckets(&[("class", name), ("stage", stage)], histogram);
        }
    }
    connections(&mut text, gate);
    front(&mut text, gate);
    servers::metrics(&mut text, gate);
    operation(&mut text, gate);
    text
}

type Read = fn(&Counters) -> u64;

fn classes(text: &mut Text, gate: &Gate, policy: &Policy) {
    let classes: Vec<(&str, ClassSnapshot)> =
        gate.classes.iter().map(String::as_str).zip(policy.class_snapshots()).collect();
    let counters: [(&'static str, &str, Read); 6] = [
        ("headworks_gate_arrived_total", "Requests whose class was known or found.", |c| c.arrived),
        ("headworks_gate_admitted_total", "Requests that joined their class queue.", |c| c.admitted),
        ("headworks_gate_held_back_total", "Requests held back at least once.", |c| c.held_back),
        ("headworks_gate_dispatched_total", "Requests sent to the server.", |c| c.dispatched),
        ("headworks_gate_finished_total", "Requests the server was done with.", |c| c.finished),
        ("headworks_gate_aborted_total", "Requests whose client went away.", |c| c.aborted),
    ];
    for (metric, help, read) in counters {
        let family = text.counter(metric, help);
        for (name, class) in &classes {
            family.sample(&[("class", name)], read(&class.counters));
        }
    }
    let rejected = text.counter("headworks_gate_rejected_total", "Requests refused, by reason.");
    let unclassified = policy.snapshot().unclassified;
    let all = classes.iter().map(|(name, class)| (*name, &class.counters));
    for (name, counters) in all.chain([("unclassified", &unclassified)]) {
        for reason in Reason::ALL {
            let labels = [("class", name), ("reason", reason.name())];
            rejected.sample(&labels, counters.rejected[reason.index()]);
        }
    }
    let queued = text.gauge("headworks_gate_class_queue", "Requests in the class queue.");
    for (name, class) in &classes {
        queued.sample(&[("class", name)], class.queued);
    }
    let target = text.gauge("headworks_gate_class_queue_target", "Target length of the class queue.");
    for (name, class) in &classes {
        target.sample(&[("class", name)], class.target);
    }
    let help = "How long clients wait before they give up, as far as is known.";
    let patience = text.gauge("headworks_gate_patience_seconds", help);
    for (name, class) in &classes {
        patience.sample(&[("class", name)], class.patience.as_secs_f64());
    }
    let admits = text.gauge("headworks_gate_admission_probability", "Probability of admission.");
    for (name, class) in &classes {
        admits.sample(&[("class", name), ("session", "existing")], class.admits_existing);
        admits.sample(&[("class", name), ("session", "new")], class.admits_new);
    }
}

fn policy(text: &mut Text, policy: &Policy) {
    let now = policy.snapshot();
    text.gauge("headworks_gate_queue", "Requests waiting, by stage.")
        .sample(&[("stage", "acceptor")], now.lengths.acceptor)
        .sample(&[("stage", "pending")], now.lengths.pending)
        .sample(&[("stage", "discard")], now.lengths.discard)
        .sample(&[("stage", "class")], now.lengths.class);
    text.gauge("headworks_gate_in_service", "Requests inside the server.").sample(&[], now.in_service);
    text.gauge("headworks_gate_window", "Requests that may be inside the server.").sample(&[], now.window);
    text.gauge("headworks_gate_express", "Places on top of the window that only important classes may take.")
        .sample(&[], now.express);
    text.gauge("headworks_gate_look_ahead", "Requests scanned for important ones, k.")
        .sample(&[], now.look_ahead);
    text.gauge("headworks_gate_quota", "Requests processed per cycle, m.").sample(&[], now.quota);
    text.gauge("headworks_gate_pressure", "Use of the scarcest resource, 0 to 1.")
        .sample(&[], now.pressure.as_f64());
    let knobs = policy.config().knobs;
    text.gauge("headworks_gate_knob", "The operator's knobs, 0 to 1.")
        .sample(&[("knob", "differentiation")], knobs.differentiation.as_f64())
        .sample(&[("knob", "favour")], knobs.favour.as_f64());
}

fn connections(text: &mut Text, gate: &Gate) {
    let failures =
        text.counter("headworks_gate_upstream_failures_total", "Requests without a response, by kind.");
    for (kind, count) in gate.failures.counts() {
        failures.sample(&[("kind", kind)], count);
    }
    let (opened, reused) = gate.pool.traffic();
    text.counter("headworks_gate_upstream_connections_total", "Connections opened to the upstream.")
        .sample(&[], opened);
    text.counter("headworks_gate_upstream_reuses_total", "Requests sent over an open connection.")
        .sample(&[], reused);
    text.gauge("headworks_gate_connections", "Connections open.")
        .sample(&[("side", "client")], gate.clients.open())
        .sample(&[("side", "upstream")], gate.pool.open());
    text.gauge("headworks_gate_upstream_connections_free", "Connections to the upstream without a request.")
        .sample(&[], gate.pool.free());
    text.gauge("headworks_gate_connections_limit", "Connections that may be open.")
        .sample(&[], gate.guard.connections());
    text.gauge("headworks_gate_descriptors_limit", "Descriptors the process may have.")
        .sample(&[], gate.guard.descriptors());
    let raised =
        text.counter("headworks_gate_sessions_raised_total", "Sessions raised to a higher class, by what.");
    for (by, count) in gate.raises.counts() {
        raised.sample(&[("by", by)], count);
    }
    let malformed = text
        .counter("headworks_gate_malformed_total", "Requests refused for how they are written, by reason.");
    for (reason, count) in gate.strictness.counts() {
        malformed.sample(&[("reason", reason)], count);
    }
    text.counter("headworks_gate_accept_failures_total", "Connections the kernel could not give.")
        .sample(&[], gate.guard.accept_failures());
}

fn operation(text: &mut Text, gate: &Gate) {
    let (done, refused) = gate.reloads.counts();
    text.counter("headworks_gate_reloads_total", "Times that the configuration was read again, by result.")
        .sample(&[("result", "done")], done)
        .sample(&[("result", "refused")], refused);
    text.gauge("headworks_gate_draining", "Whether clients are sent elsewhere.")
        .sample(&[], u8::from(gate.is_draining()));
    let lines =
        text.counter("headworks_gate_log_lines_total", "Lines of the access log, by what became of them.");
    for (result, count) in gate.journal.counts().read() {
        lines.sample(&[("result", result)], count);
    }
    if gate.journal.is_exporting() {
        let sent = text
            .counter("headworks_gate_telemetry_total", "Requests to the collector, by what became of them.");
        for (result, count) in gate.journal.sent().read() {
            sent.sample(&[("result", result)], count);
        }
    }
}

fn front(text: &mut Text, gate: &Gate) {
    text.gauge("headworks_gate_http2_streams", "Open streams of clients' HTTP/2 connections.")
        .sample(&[], gate.clients.streams() as u64);
    text.counter(
        "headworks_gate_http2_refused_streams_total",
        "Streams beyond the limit of all connections.",
    )
    .sample(&[], gate.guard.refused_streams());
    text.gauge("headworks_gate_http2_unsent_bytes", "Of responses, what clients of HTTP/2 have not taken.")
        .sample(&[], gate.unsent.bytes() as u64);
    let Counts { done, failed, turned_away } = gate.handshakes.counts();
    let family = text.counter("headworks_gate_tls_handshakes_total", "TLS handshakes, by what came of them.");
    for (result, count) in [("done", done), ("failed", failed), ("turned-away", turned_away)] {
        family.sample(&[("result", result)], count);
    }
}
