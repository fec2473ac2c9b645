//! Spans of a request: the request itself, its wait for a place, and its time in the upstream.
//! Attributes are named by OpenTelemetry's conventions for HTTP where those have a name.

use serde_json::{Value, json};
use units::Time;

use crate::observe::access_log::entry::{Batch, Entry};
use crate::observe::access_log::line::LogLine;
use crate::observe::trace::context::Trace;
use telemetry::otlp::{attribute, integer, resource, scope, seconds, text};

/// What of Headworks sends it.
pub(crate) const SCOPE: &str = "headworks.gate";

/// Kinds of spans, and the status of one that failed, by OTLP's numbers.
const INTERNAL: u8 = 1;
const SERVER: u8 = 2;
const CLIENT: u8 = 3;
const ERROR: u8 = 2;

/// The body of a request to `/v1/traces`; none when nothing of it is recorded.
pub(crate) fn export(service: &str, classes: &[String], batches: &[impl AsRef<Batch>]) -> Option<Value> {
    let mut spans = Vec::new();
    for batch in batches.iter().map(AsRef::as_ref) {
        for entry in &batch.entries {
            let Some(trace) = entry.trace else { continue };
            let line = LogLine::new(entry, classes, batch.offset);
            let at = |time: Time| telemetry::otlp::time(i128::from(time.as_nanos()) + batch.offset);
            spans.extend(of_request(entry, &line, &trace, at));
        }
    }
    (!spans.is_empty()).then(|| {
        json!({ "resourceSpans": [{
            "resource": resource(service),
            "scopeSpans": [{ "scope": scope(SCOPE), "spans": spans }],
        }] })
    })
}

fn of_request(entry: &Entry, line: &LogLine<'_>, trace: &Trace, at: impl Fn(Time) -> Value) -> Vec<Value> {
    let times = &entry.times;
    let span =
        |id: u64, parent: Option<u64>, kind: u8, name: &str, from: Time, to: Time, attributes: Vec<Value>| {
            json!({
                "traceId": format!("{:032x}", trace.id),
                "spanId": format!("{id:016x}"),
                "parentSpanId": parent.map(|parent| format!("{parent:016x}")).unwrap_or_default(),
                "kind": kind,
                "name": name,
                "startTimeUnixNano": at(from),
                "endTimeUnixNano": at(to),
                "attributes": attributes,
            })
        };
    let mut request = span(
        trace.span,
        trace.parent,
        SERVER,
        entry.method.as_str(),
        times.began,
        times.ended,
        attributes(entry, line),
    );
    if line.status.is_none_or(|status| status >= 500) {
        request["status"] = json!({ "code": ERROR });
    }
    let mut spans = vec![request];
    if entry.details.is_some() {
        let waits = [
            attribute("headworks.wait.acceptor", seconds(line.times.acceptor)),
            attribute("headworks.wait.pending", seconds(line.times.pending)),
            attribute("headworks.wait.discard", seconds(line.times.discard)),
            attribute("headworks.wait.class", seconds(line.times.class)),
        ];
        // It needs a name of its own, which no other program has to know.
        let id = trace.span ^ trace.upstream.rotate_left(32) | 1;
        let waits = waits.into_iter().flatten().collect();
        spans.push(span(id, Some(trace.span), INTERNAL, "wait", times.arrived, times.decided, waits));
    }
    if line.decision == "dispatched" {
        let server = [
            attribute("server.address", line.upstream.and_then(|server| text(server.ip().to_string()))),
            attribute("server.port", line.upstream.and_then(|server| integer(server.port().into()))),
            attribute("error.type", line.failure.and_then(text)),
        ];
        let server = server.into_iter().flatten().collect();
        let mut upstream =
            span(trace.upstream, Some(trace.span), CLIENT, "upstream", times.decided, times.ended, server);
        if line.failure.is_some() {
            upstream["status"] = json!({ "code": ERROR });
        }
        spans.push(upstream);
    }
    spans
}

fn attributes(entry: &Entry, line: &LogLine<'_>) -> Vec<Value> {
    let (path, query) = match line.path.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (line.path, None),
    };
    [
        attribute("http.request.method", text(line.method)),
        attribute("url.path", text(path)),
        attribute("url.query", query.and_then(text)),
        attribute("server.address", line.host.and_then(text)),
        attribute("client.address", text(line.client.to_string())),
        attribute("network.protocol.version", text(line.protocol.trim_start_matches("HTTP/"))),
        attribute("http.response.status_code", line.status.and_then(|status| integer(status.into()))),
        attribute("http.request.body.size", integer(entry.bytes_in)),
        attribute("http.response.body.size", integer(entry.bytes_out)),
        attribute("headworks.class", line.class.and_then(text)),
        attribute("headworks.rule", line.rule.as_ref().and_then(|rule| text(rule.to_string()))),
        attribute("headworks.session", text(line.session)),
        attribute("headworks.decision", text(line.decision)),
        attribute("headworks.reason", line.reason.and_then(text)),
    ]
    .into_iter()
    .flatten()
    .collect()
}
