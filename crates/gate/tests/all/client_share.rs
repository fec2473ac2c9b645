//! What one client may hold: by the address that it has, also behind proxies that are trusted.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use crate::common::{Gate, Held};
use testkit::Raw;

/// So many requests for clients of these addresses, in order; how many were refused for their share.
fn refused(proxies: &str, addresses: &[&str]) -> u64 {
    let server = Held::start();
    let more = format!(
        "trusted-proxies = {proxies}\nwindow = 1\nclient-share = 0.5\n[limits]\nacceptor-queue = 4\n"
    );
    let gate = Gate::start(server.address(), &more);
    let clients: Vec<Raw> = addresses
        .iter()
        .map(|address| {
            let mut client = gate.connect();
            client.send(crate::common::request("/", &format!("X-Forwarded-For: {address}\r\n")));
            client
        })
        .collect();
    let rejected = |state: &serde_json::Value| {
        state["unclassified"]["rejected"]["client-share"].as_u64().unwrap_or_default()
    };
    let held = |state: &serde_json::Value| {
        let queues = state["queues"].as_object().unwrap().values().map(|queue| queue.as_u64().unwrap());
        queues.sum::<u64>() + state["in_service"].as_u64().unwrap()
    };
    let state = gate.wait_for("every request to wait or be refused", |state| {
        rejected(state) + held(state) == addresses.len() as u64
    });
    drop(clients);
    rejected(&state)
}

#[test]
fn a_client_of_ipv6_is_its_network() {
    let one = "2001:db8:0:1::1";
    assert_eq!(refused("'127.0.0.1'", &[one, "2001:db8:0:1::2", "2001:db8:0:1:ffff::3"]), 1);
    assert_eq!(refused("'127.0.0.1'", &[one, "2001:db8:0:2::1", "2001:db8:0:3::1"]), 0);
    assert_eq!(refused("'127.0.0.1'", &["10.0.0.1", "10.0.0.1", "::ffff:10.0.0.1", "10.0.0.2"]), 1);
}

#[test]
fn who_is_not_trusted_is_one_client_whatever_it_says() {
    assert_eq!(refused("[]", &["10.0.0.1", "10.0.0.2", "10.0.0.3"]), 1);
}
