//! What `headworks gate` tells an OpenTelemetry collector.
#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

use std::net::SocketAddr;

use crate::common::{Crowd, Site};
use serde_json::Value;
use testkit::{Collector, PATIENCE, Raw, poll_until};

fn attribute<'a>(span: &'a Value, key: &str) -> Option<&'a Value> {
    let attributes = span["attributes"].as_array().unwrap();
    let found = attributes.iter().find(|attribute| attribute["key"] == key)?;
    found["value"].as_object().unwrap().values().next()
}

fn telemetry(collector: SocketAddr, more: &str) -> String {
    format!("[telemetry]\nendpoint = 'http://{collector}'\ninterval = '1s'\n{more}\n")
}

#[test]
fn a_request_is_a_span_with_its_wait_and_its_time_in_the_server() {
    let collector = Collector::start("200 OK");
    let site = Site::new();
    let _gate = site.configure(&telemetry(collector.address(), "sample = 1")).start();
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";
    Raw::connect(site.address)
        .send(format!("GET /bytes/7?q=1 HTTP/1.1\r\nHost: shop\r\ntraceparent: {parent}\r\n\r\n"))
        .response();
    let spans =
        collector.wait_for("spans", |collector| Some(collector.spans()).filter(|spans| spans.len() >= 3));
    assert!(spans.iter().all(|span| span["traceId"] == "0af7651916cd43dd8448eb211c80319c"), "{spans:?}");
    let of_kind = |kind: u64| spans.iter().find(|span| span["kind"] == kind).unwrap();
    let (request, wait, upstream) = (of_kind(2), of_kind(1), of_kind(3));
    assert_eq!((&request["name"], &request["parentSpanId"]), (&"GET".into(), &"b7ad6b7169203331".into()));
    for (key, value) in [
        ("url.path", "/bytes/7"),
        ("url.query", "q=1"),
        ("server.address", "shop"),
        ("http.response.status_code", "200"),
        ("http.response.body.size", "7"),
        ("headworks.class", "basic"),
        ("headworks.decision", "dispatched"),
    ] {
        assert_eq!(attribute(request, key), Some(&value.into()), "{key} of {request}");
    }
    for child in [wait, upstream] {
        assert_eq!(child["parentSpanId"], request["spanId"]);
        let time = |span: &Value, key: &str| span[key].as_str().unwrap().parse::<u64>().unwrap();
        assert!(time(child, "startTimeUnixNano") >= time(request, "startTimeUnixNano"));
        assert!(time(child, "endTimeUnixNano") <= time(request, "endTimeUnixNano"));
    }
    assert_ne!(wait["spanId"], upstream["spanId"]);
}

#[test]
fn clients_record_only_when_they_are_followed() {
    let collector = Collector::start("200 OK");
    let site = Site::new();
    let gate = site.configure(&telemetry(collector.address(), "sample = 0")).start();
    let ask = |flags: &str| {
        let parent = format!("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-{flags}");
        let request = format!("GET /bytes/7 HTTP/1.1\r\nHost: shop\r\ntraceparent: {parent}\r\n\r\n");
        Raw::connect(site.address).send(request).response();
    };
    ask("01");
    // Metrics that come later come after its spans would have.
    let metrics = |collector: &Collector| collector.got("/v1/metrics").len();
    let before = metrics(&collector);
    collector.wait_for("metrics", |collector| (metrics(collector) > before + 1).then_some(()));
    assert!(collector.spans().is_empty(), "{:?}", collector.spans());
    site.configure(&telemetry(collector.address(), "sample = 0\nfollow = true"));
    site.reload(&gate);
    ask("00");
    ask("01");
    let spans =
        collector.wait_for("spans", |collector| Some(collector.spans()).filter(|spans| !spans.is_empty()));
    assert_eq!(spans.iter().filter(|span| span["kind"] == 2).count(), 1, "{spans:?}");
}

#[test]
fn metrics_are_those_that_prometheus_reads() {
    let collector = Collector::start("200 OK");
    let site = Site::new();
    let _gate = site.configure(&telemetry(collector.address(), "service = 'shop'")).start();
    for _ in 0..5 {
        Raw::connect(site.address).get("/bytes/1").response();
    }
    let (body, _) = collector.wait_for_metric("headworks_gate_finished_total", |metric| {
        let points = metric["sum"]["dataPoints"].as_array().unwrap();
        points.iter().any(|point| point["asDouble"] == 5.0)
    });
    let service = &body["resourceMetrics"][0]["resource"]["attributes"][0];
    assert_eq!((&service["key"], &service["value"]["stringValue"]), (&"service.name".into(), &"shop".into()));
    let metrics = body["resourceMetrics"][0]["scopeMetrics"][0]["metrics"].as_array().unwrap();
    let seconds = metrics.iter().find(|metric| metric["name"] == "headworks_gate_request_seconds").unwrap();
    assert_eq!(seconds["unit"], "s");
    let points = seconds["histogram"]["dataPoints"].as_array().unwrap();
    let total = points.iter().find(|point| point["count"] == "5").unwrap();
    let buckets = total["bucketCounts"].as_array().unwrap();
    assert_eq!(buckets.len(), total["explicitBounds"].as_array().unwrap().len() + 1);
    let sum: u64 = buckets.iter().map(|count| count.as_str().unwrap().parse::<u64>().unwrap()).sum();
    assert_eq!(sum, 5, "each in one bucket");
}

#[test]
fn a_collector_that_fails_harms_nobody() {
    for (status, why) in [(Some("500 Internal Server Error"), "it answers 500"), (None, "refused")] {
        let collector = Collector::start(status.unwrap_or("200 OK"));
        let address = if status.is_some() { collector.address() } else { testkit::free_address() };
        let site = Site::new();
        let mut gate = site.configure(&telemetry(address, "sample = 1")).start();
        let crowd = Crowd::start(site.address, 4);
        crowd.serve(200);
        let failed = "headworks_gate_telemetry_total{result=\"failed\"}";
        poll_until(PATIENCE, "sending to fail", || (site.metric(failed) > 0.0).then_some(()));
        crowd.serve(100);
        crowd.end();
        gate.terminate();
        let said = gate.rest_of_stderr();
        assert_eq!(said.matches(why).count(), 1, "{said}");
    }
}
