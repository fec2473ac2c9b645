//! The endpoint as scrapers meet it: well-behaved ones and others.

use std::net::TcpListener;

use testkit::{PATIENCE, Raw, exchange, poll_until};

use catalogue::load;

use super::{Endpoint, MAX_CONNECTIONS};
use crate::{Format, Metrics, MetricsAddress};

/// What every scrape gives.
const TEXT: &str = "# HELP headworks_load_done Done.\n# TYPE headworks_load_done counter\nheadworks_load_done_total 1\n# EOF\n";

fn address(text: &str) -> MetricsAddress {
    text.parse().unwrap()
}

fn serve() -> Endpoint {
    let gather = || {
        let mut metrics = Metrics::default();
        metrics.family(load::DONE).described("Done.").sample(&[], 1_u64);
        metrics
    };
    Endpoint::bind(address("127.0.0.1:0")).unwrap().serve(Format::OpenMetrics, || (), gather)
}

#[test]
fn a_scraper_gets_the_page_as_often_as_it_asks() {
    let endpoint = serve();
    let mut scraper = Raw::connect(endpoint.address());
    for _ in 0..2 {
        let response = scraper.get("/metrics").response();
        assert_eq!(
            (response.status, response.header("content-type")),
            (200, Some(Format::OpenMetrics.content_type()))
        );
        assert_eq!(response.text(), TEXT);
    }
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
    let mut silent: Vec<Raw> = (0..MAX_CONNECTIONS + 4).map(|_| Raw::connect(address)).collect();
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
    assert!(text.contains("headworks_load_done_total 1"));
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
