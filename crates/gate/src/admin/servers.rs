//! The servers behind the gate, as `/metrics` and `/api/v1/state` show them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::process::gate::Gate;
use crate::upstream::server::Server;
use telemetry::Metrics;

/// The servers together.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Upstream {
    /// Of the first server, as configured.
    address: String,
    /// Requests without a response, by kind.
    failures: BTreeMap<&'static str, u64>,
    /// Requests sent once more.
    retries: u64,
    /// Requests that were not, for want of budget.
    retries_denied: u64,
    /// Requests sent although no server was up.
    last_resort: u64,
    servers: Vec<One>,
    tunnels: Tunnels,
}

/// One server.
#[derive(Debug, Serialize, JsonSchema)]
struct One {
    address: String,
    /// As configured.
    name: String,
    /// `up`, `ejected`, `trial` or `ill`.
    standing: &'static str,
    weight: u32,
    outstanding: u32,
    requests: u64,
    failures: u64,
    ejections: u64,
    checks: Checks,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Checks {
    passed: u64,
    failed: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Tunnels {
    open: u32,
    opened: u64,
    refused: u64,
}

impl Upstream {
    pub(super) fn of(gate: &Gate) -> Self {
        let pool = &gate.pool;
        let (retries, retries_denied) = pool.budget.counts();
        let now = gate.clock.last();
        let one = |server: &Server| {
            let (requests, failures) = server.counts();
            let [failed, passed] = server.health.checks();
            One {
                address: server.address().to_string(),
                name: server.place.name.clone(),
                standing: server.health.name(now),
                weight: server.place.weight,
                outstanding: server.outstanding(),
                requests,
                failures,
                ejections: server.health.ejections(),
                checks: Checks { passed, failed },
            }
        };
        let (opened, refused) = gate.proxy.tunnels.counts();
        Self {
            address: pool.settings().name().to_owned(),
            failures: gate.proxy.failures.counts().collect(),
            retries,
            retries_denied,
            last_resort: pool.last_resort(),
            servers: pool.servers().iter().map(|server| one(server)).collect(),
            tunnels: Tunnels { open: gate.proxy.tunnels.open(), opened, refused },
        }
    }
}

/// Metrics of the servers.
pub(super) fn metrics(metrics: &mut Metrics, gate: &Gate) {
    let (pool, now) = (&gate.pool, gate.clock.last());
    let servers: Vec<_> =
        pool.servers().iter().map(|server| (server.address().to_string(), server.clone())).collect();
    let up = metrics.gauge("headworks_gate_server_up", "Whether a server gets requests.");
    for (name, server) in &servers {
        up.sample(&[("server", name)], u8::from(server.health.name(now) == "up"));
    }
    let outstanding = metrics
        .gauge("headworks_gate_server_outstanding", "Requests that a server has not answered to the end.");
    for (name, server) in &servers {
        outstanding.sample(&[("server", name)], server.outstanding());
    }
    type Read = fn(&Server) -> u64;
    let counters: [(&'static str, &str, Read); 3] = [
        ("headworks_gate_server_requests_total", "Requests sent to a server.", |server| server.counts().0),
        ("headworks_gate_server_failures_total", "Requests that a server failed.", |server| {
            server.counts().1
        }),
        ("headworks_gate_server_ejections_total", "Times that a server was ejected.", |server| {
            server.health.ejections()
        }),
    ];
    for (metric, help, read) in counters {
        let family = metrics.counter(metric, help);
        for (name, server) in &servers {
            family.sample(&[("server", name)], read(server));
        }
    }
    let checks = metrics.counter("headworks_gate_server_checks_total", "Checks of a server, by result.");
    for (name, server) in &servers {
        for (result, count) in ["failed", "passed"].iter().zip(server.health.checks()) {
            checks.sample(&[("server", name), ("result", result)], count);
        }
    }
    let (retries, denied) = pool.budget.counts();
    metrics
        .counter("headworks_gate_retries_total", "Requests to be sent once more, by what the budget said.")
        .sample(&[("result", "sent")], retries)
        .sample(&[("result", "denied")], denied);
    metrics
        .counter("headworks_gate_last_resort_total", "Requests sent although no server was up.")
        .sample(&[], pool.last_resort());
    metrics
        .counter("headworks_gate_look_up_failures_total", "Times that a server's name led nowhere.")
        .sample(&[], pool.failed_look_ups());
    tunnels(metrics, gate);
}

fn tunnels(metrics: &mut Metrics, gate: &Gate) {
    let (opened, refused) = gate.proxy.tunnels.counts();
    metrics
        .gauge("headworks_gate_tunnels", "Tunnels open or asked for.")
        .sample(&[], gate.proxy.tunnels.open());
    metrics
        .counter("headworks_gate_tunnels_total", "Tunnels, by what became of the request for them.")
        .sample(&[("result", "opened")], opened)
        .sample(&[("result", "refused")], refused);
    let bytes = metrics.counter("headworks_gate_tunnel_bytes_total", "Bytes through tunnels, by direction.");
    for (direction, count) in ["from-client", "to-client"].iter().zip(gate.proxy.tunnels.passed()) {
        bytes.sample(&[("direction", direction)], count);
    }
}
