//! The endpoint as scrapers meet it: well-behaved ones and others.

use std::collections::BTreeMap;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

use testkit::{PATIENCE, Raw, exchange, poll_until};

use super::super::samples;
use super::{CONNECTIONS, Endpoint, MetricsAddress};

fn address(text: &str) -> MetricsAddress {
    text.parse().unwrap()
}

fn serve() -> Endpoint {
    Endpoint::bind(address("127.0.0.1:0")).unwrap().serve(samples::setting())
}

fn scrape(address: SocketAddr) -> String {
    let response = Raw::connect(address).get("/metrics").response();
    assert_eq!(response.status, 200, "{}", response.head);
    assert!(response.header("content-type").unwrap().starts_with("application/openmetrics-text"));
    response.text().to_owned()
}

/// Reads OpenMetrics' text strictly: samples only after TYPE of their family, no sample twice,
/// the end marked.
fn parse(text: &str) -> BTreeMap<String, f64> {
    let (mut family, mut kind) = ("", "");
    let mut samples = BTreeMap::new();
    let text = text.strip_suffix("# EOF\n").expect("the end is marked");
    for line in text.lines() {
        if let Some(described) = line.strip_prefix("# TYPE ") {
            (family, kind) = described.split_once(' ').unwrap();
            continue;
        }
        if line.starts_with("# HELP ") || line.starts_with("# UNIT ") {
            continue;
        }
        let (name, value) = line.rsplit_once(' ').unwrap();
        let suffix = name.split('{').next().unwrap().strip_prefix(family);
        let allowed: &[&str] = match kind {
            "counter" => &["_total"],
            "gauge" => &[""],
            "histogram" => &["_bucket", "_sum", "_count"],
            other => panic!("{other} in {line}"),
        };
        assert!(suffix.is_some_and(|suffix| allowed.contains(&suffix)), "{line} is no {kind} of {family}");
        assert_eq!(samples.insert(name.to_owned(), value.parse().unwrap()), None, "{line} twice");
    }
    samples
}

#[test]
fn a_scrape_says_what_the_last_look_saw() {
    let endpoint = serve();
    assert_eq!(parse(&scrape(endpoint.address()))["headworks_load_requests_total"], 0.0);
    endpoint.see(Arc::new(samples::trouble(12)));
    let samples = parse(&scrape(endpoint.address()));
    for (name, value) in [
        ("headworks_load_requests_total", 20_000.0),
        ("headworks_load_responses_total{status=\"200\"}", 19_500.0),
        ("headworks_load_responses_total{status=\"503\"}", 60.0),
        ("headworks_load_errors_total{kind=\"timeout\"}", 40.0),
        ("headworks_load_errors_total{kind=\"body\"}", 0.0),
        ("headworks_load_bytes_total", 20_275_200.0),
        ("headworks_load_connections_opened_total", 64.0),
        ("headworks_load_syn_retransmits_total", 2.0),
        ("headworks_load_latency_seconds_count{phase=\"total\"}", 19_800.0),
        ("headworks_load_latency_seconds_bucket{le=\"+Inf\",phase=\"total\"}", 19_800.0),
        ("headworks_load_latency_seconds_bucket{le=\"0.0001\",phase=\"connect\"}", 61.0),
        ("headworks_load_latency_seconds_bucket{le=\"0.0002\",phase=\"connect\"}", 64.0),
        ("headworks_load_stage{stage=\"measuring\"}", 1.0),
        ("headworks_load_stage{stage=\"warm-up\"}", 0.0),
        ("headworks_load_offered_per_second", 2000.0),
        ("headworks_load_level{unit=\"requests/s\"}", 3000.0),
        ("headworks_load_client_cpu_ratio", 0.97),
        ("headworks_load_lag_p99_seconds", 21e-6),
        ("headworks_load_valid", 0.0),
    ] {
        assert_eq!(samples.get(name), Some(&value), "{name}");
    }
    let sum = samples["headworks_load_latency_seconds_sum{phase=\"connect\"}"];
    assert!((sum - 64.0 * 71.5e-6).abs() < 1e-12, "{sum}");
}

#[test]
fn what_is_not_a_scrape_is_explained() {
    let endpoint = serve();
    let ask = |line: &str| {
        exchange(endpoint.address(), format!("{line} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"))
    };
    assert!(ask("GET /").contains("404 Not Found") && ask("GET /").contains("/metrics"));
    assert!(ask("POST /metrics").contains("405") && ask("POST /metrics").contains("GET, HEAD"));
    assert!(ask("HEAD /metrics").ends_with("\r\n\r\n"));
}

#[test]
fn clients_that_behave_badly_stop_nobody() {
    let endpoint = serve();
    let address = endpoint.address();
    // More than there are places for, all of them silent and none of them gone.
    let mut silent: Vec<Raw> = (0..CONNECTIONS + 4).map(|_| Raw::connect(address)).collect();
    poll_until(PATIENCE, "a place after the silent ones have had their time", || {
        Some(exchange(address, "GET /metrics HTTP/1.0\r\n\r\n")).filter(|answer| answer.ends_with("# EOF\n"))
    });
    assert_eq!(silent.iter_mut().map(|client| client.until_closed().len()).sum::<usize>(), 0);
    for garbage in ["\0\0\0\0\r\n\r\n", "GET\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"] {
        poll_until(PATIENCE, "a place", || {
            let answer = exchange(address, garbage);
            (answer.is_empty() || answer.starts_with("HTTP/1.1 4")).then_some(())
        });
    }
    let mut endless = Raw::connect(address);
    endless.send("GET /metrics HTTP/1.1\r\n");
    for _ in 0..10_000 {
        endless.send("X-Padding: padding padding padding padding padding padding padding\r\n");
    }
    endless.until_closed();
    // One that asks and does not wait for the answer.
    Raw::connect(address).get("/metrics");
    let text = poll_until(PATIENCE, "an answer", || {
        let answer = exchange(address, "GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        answer.ends_with("# EOF\n").then_some(answer)
    });
    assert!(text.contains("headworks_load_valid 1"));
}

#[test]
fn the_port_is_free_again_when_the_run_is_over() {
    let endpoint = serve();
    let address = endpoint.address();
    let mut open = Raw::connect(address);
    open.get("/metrics").response();
    drop(endpoint);
    assert_eq!(open.until_closed(), b"");
    assert!(std::net::TcpStream::connect(address).is_err());
}

#[test]
fn an_address_that_is_taken_is_told_before_the_run() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let text = taken.local_addr().unwrap().to_string();
    let error = Endpoint::bind(address(&text)).unwrap_err().to_string();
    assert!(error.contains(&text) && error.contains("in use") && error.contains("--prometheus"), "{error}");
}

#[test]
fn each_metric_is_documented() {
    let page = include_str!("../../../../../docs/live.md");
    let endpoint = serve();
    endpoint.see(Arc::new(samples::trouble(12)));
    for line in scrape(endpoint.address()).lines() {
        let Some((family, kind)) = line.strip_prefix("# TYPE ").and_then(|line| line.split_once(' ')) else {
            continue;
        };
        let name = if kind == "counter" { format!("{family}_total") } else { family.to_owned() };
        let row = page.lines().find(|row| row.starts_with('|') && row.contains(&format!("`{name}`")));
        let row = row.unwrap_or_else(|| panic!("docs/live.md does not have {name}"));
        assert!(row.contains(&format!("| {kind} |")), "{row}");
    }
}
