//! The servers behind the gate, as `/metrics` and `/api/v1/state` show them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::process::gate::Gate;
use crate::upstream::server::Server;
use catalogue::Metric;
use catalogue::gate as metric;
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
                name: server.endpoint.name.clone(),
                standing: server.health.name(now),
                weight: server.endpoint.weight,
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
    let up = metrics.family(metric::SERVER_UP);
    for (name, server) in &servers {
        up.sample(&[name], u8::from(server.health.name(now) == "up"));
    }
    let outstanding = metrics.family(metric::SERVER_OUTSTANDING);
    for (name, server) in &servers {
        outstanding.sample(&[name], server.outstanding());
    }
    type Read = fn(&Server) -> u64;
    let counters: [(Metric, Read); 3] = [
        (metric::SERVER_REQUESTS, |server| server.counts().0),
        (metric::SERVER_FAILURES, |server| server.counts().1),
        (metric::SERVER_EJECTIONS, |server| server.health.ejections()),
    ];
    for (metric, read) in counters {
        let family = metrics.family(metric);
        for (name, server) in &servers {
            family.sample(&[name], read(server));
        }
    }
    let checks = metrics.family(metric::SERVER_CHECKS);
    for (name, server) in &servers {
        for (result, count) in ["failed", "passed"].iter().zip(server.health.checks()) {
            checks.sample(&[name, result], count);
        }
    }
    let (retries, denied) = pool.budget.counts();
    metrics.family(metric::RETRIES).sample(&["sent"], retries).sample(&["denied"], denied);
    metrics.family(metric::LAST_RESORT).sample(&[], pool.last_resort());
    metrics.family(metric::LOOK_UP_FAILURES).sample(&[], pool.failed_look_ups());
    tunnels(metrics, gate);
}

fn tunnels(metrics: &mut Metrics, gate: &Gate) {
    let (opened, refused) = gate.proxy.tunnels.counts();
    metrics.family(metric::STREAMS_TURNED_AWAY).sample(&[], gate.proxy.turned_away.get());
    metrics.family(metric::TUNNELS).sample(&[], gate.proxy.tunnels.open());
    metrics.family(metric::TUNNELS_ASKED).sample(&["opened"], opened).sample(&["refused"], refused);
    let bytes = metrics.family(metric::TUNNEL_BYTES);
    for (direction, count) in ["from-client", "to-client"].iter().zip(gate.proxy.tunnels.passed()) {
        bytes.sample(&[direction], count);
    }
}
