//! The metrics of the gate, gathered for scrapers and for a collector.

use policy::{ClassSnapshot, Counters, Policy, Reason};

use crate::admin::{mode, servers};
use crate::admission::stage_latency::STAGES;
use crate::downstream::handshakes::Counts;
use crate::process::gate::Gate;
use catalogue::Metric;
use catalogue::gate as metric;
use telemetry::Metrics;

/// All metrics of the gate.
pub(crate) fn gather(gate: &Gate) -> Metrics {
    let mut metrics = Metrics::default();
    let driver = gate.admission.driver.borrow();
    classes(&mut metrics, gate, driver.policy());
    policy(&mut metrics, driver.policy());
    let seconds = metrics.family(metric::REQUEST);
    for (class, name) in driver.policy().class_snapshots().zip(gate.classes()) {
        for (stage, histogram) in STAGES.iter().zip(driver.stages().of(class.class).into_iter().flatten()) {
            seconds.buckets(&[name, stage], histogram.buckets());
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
    let counters: [(Metric, Read); 6] = [
        (metric::ARRIVED, |c| c.arrived),
        (metric::ADMITTED, |c| c.admitted),
        (metric::HELD_BACK, |c| c.held_back),
        (metric::DISPATCHED, |c| c.dispatched),
        (metric::FINISHED, |c| c.finished),
        (metric::ABORTED, |c| c.aborted),
    ];
    for (metric, read) in counters {
        let family = metrics.family(metric);
        for (name, class) in &classes {
            family.sample(&[name], read(&class.counters));
        }
    }
    let rejected = metrics.family(metric::REJECTED);
    let unclassified = policy.snapshot().unclassified;
    let all = classes.iter().map(|(name, class)| (*name, &class.counters));
    for (name, counters) in all.chain([("unclassified", &unclassified)]) {
        for reason in Reason::ALL {
            rejected.sample(&[name, reason.name()], counters.rejected[reason.index()]);
        }
    }
    let queued = metrics.family(metric::CLASS_QUEUE);
    for (name, class) in &classes {
        queued.sample(&[name], class.queued);
    }
    let target = metrics.family(metric::CLASS_QUEUE_TARGET);
    for (name, class) in &classes {
        target.sample(&[name], class.target);
    }
    let patience = metrics.family(metric::PATIENCE);
    for (name, class) in &classes {
        patience.sample(&[name], class.patience.as_secs_f64());
    }
    let waiting = metrics.family(metric::WAITING_ROOM);
    for (name, class) in &classes {
        waiting.sample(&[name], class.room.waiting);
    }
    let outflow = metrics.family(metric::WAITING_ROOM_OUTFLOW);
    for (name, class) in &classes {
        outflow.sample(&[name], class.room.outflow);
    }
    let longest = metrics.family(metric::WAITING_ROOM_LONGEST);
    for (name, class) in &classes {
        longest.sample(&[name], class.room.longest.as_secs_f64());
    }
    let admits = metrics.family(metric::ADMISSION);
    for (name, class) in &classes {
        admits.sample(&[name, "existing"], class.admits_existing);
        admits.sample(&[name, "new"], class.admits_new);
    }
    let admits_sessions = metrics.family(metric::ADMITS_SESSIONS);
    for (name, class) in &classes {
        admits_sessions.sample(&[name], u32::from(class.admits_sessions));
    }
    let session_requests = metrics.family(metric::SESSION_REQUESTS);
    for (name, class) in &classes {
        if let Some(requests) = class.session_requests {
            session_requests.sample(&[name], requests);
        }
    }
    let session_starts = metrics.family(metric::SESSION_STARTS);
    for (name, class) in &classes {
        session_starts.sample(&[name], class.session_starts);
    }
}

fn policy(metrics: &mut Metrics, policy: &Policy) {
    let now = policy.snapshot();
    metrics
        .family(metric::QUEUE)
        .sample(&["acceptor"], now.lengths.acceptor)
        .sample(&["pending"], now.lengths.pending)
        .sample(&["discard"], now.lengths.discard)
        .sample(&["class"], now.lengths.class);
    metrics.family(metric::IN_SERVICE).sample(&[], now.in_service);
    metrics.family(metric::STREAMING).sample(&[], now.streaming);
    metrics.family(metric::WINDOW).sample(&[], now.window);
    metrics.family(metric::EXPRESS).sample(&[], now.express);
    metrics.family(metric::LOOK_AHEAD).sample(&[], now.look_ahead);
    metrics.family(metric::QUOTA).sample(&[], now.quota);
    if let Some(capacity) = now.capacity {
        metrics.family(metric::CAPACITY).sample(&[], capacity);
    }
    metrics.family(metric::PRESSURE).sample(&[], now.pressure.as_f64());
    let knobs = policy.config().knobs;
    metrics
        .family(metric::KNOB)
        .sample(&["differentiation"], knobs.differentiation.as_f64())
        .sample(&["favour"], knobs.favour.as_f64());
}

fn connections(metrics: &mut Metrics, gate: &Gate) {
    let failures = metrics.family(metric::UPSTREAM_FAILURES);
    for (kind, count) in gate.proxy.failures.counts() {
        failures.sample(&[kind], count);
    }
    let (opened, reused) = gate.pool.traffic();
    metrics.family(metric::UPSTREAM_CONNECTIONS).sample(&[], opened);
    metrics.family(metric::UPSTREAM_REUSES).sample(&[], reused);
    metrics
        .family(metric::CONNECTIONS)
        .sample(&["client"], gate.clients.open())
        .sample(&["upstream"], gate.pool.open());
    let accepted = metrics.family(metric::ATTACHED_CONNECTIONS);
    for (by, count) in gate.downstream.accepted.counts() {
        accepted.sample(&[by], count);
    }
    metrics.family(metric::UPSTREAM_CONNECTIONS_FREE).sample(&[], gate.pool.free());
    metrics.family(metric::CONNECTIONS_LIMIT).sample(&[], gate.clients.connection_limit());
    metrics.family(metric::DESCRIPTORS_LIMIT).sample(&[], gate.admission.guard.descriptors());
    let raised = metrics.family(metric::SESSIONS_RAISED);
    for (by, count) in gate.proxy.raises.counts() {
        raised.sample(&[by], count);
    }
    let malformed = metrics.family(metric::MALFORMED);
    for (reason, count) in gate.strictness.counts() {
        malformed.sample(&[reason], count);
    }
    metrics.family(metric::ACCEPT_FAILURES).sample(&[], gate.admission.guard.accept_failures());
}

fn operation(metrics: &mut Metrics, gate: &Gate) {
    let (done, refused) = gate.reloads.counts();
    metrics.family(metric::RELOADS).sample(&["done"], done).sample(&["refused"], refused);
    let is_shadow = mode::current(gate) == mode::Shown::Shadow;
    metrics.family(metric::SHADOW).sample(&[], u8::from(is_shadow));
    metrics.family(metric::DRAINING).sample(&[], u8::from(gate.proxy.is_draining()));
    let lines = metrics.family(metric::LOG_LINES);
    for (result, count) in gate.access_log.counts().read() {
        lines.sample(&[result], count);
    }
    if gate.access_log.is_exporting() {
        let sent = metrics.family(metric::TELEMETRY);
        for (result, count) in gate.access_log.sent().read() {
            sent.sample(&[result], count);
        }
    }
}

fn front(metrics: &mut Metrics, gate: &Gate) {
    metrics.family(metric::HTTP2_STREAMS).sample(&[], gate.clients.streams() as u64);
    metrics.family(metric::HTTP2_REFUSED_STREAMS).sample(&[], gate.clients.refused_streams());
    metrics.family(metric::HTTP2_UNSENT).sample(&[], gate.downstream.unsent.bytes());
    let Counts { done, failed, turned_away } = gate.downstream.handshakes.counts();
    let family = metrics.family(metric::TLS_HANDSHAKES);
    for (result, count) in [("done", done), ("failed", failed), ("turned-away", turned_away)] {
        family.sample(&[result], count);
    }
}
