//! A world: the gate, its servers and its clients on one thread, until all clients have gone.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use anyhow::Context as _;
use gate::simulate::{Inspection, Made, Network, SimulatedGate};
use tokio::runtime::{Builder, LocalOptions};
use tokio::time::{Instant, sleep};

use crate::client::Client;
use crate::draw::Draw;
use crate::ledger::{Finding, Ledger, RequestCounts};
use crate::scenario::Scenario;
use crate::server::{self, Inside};
use crate::trace::{Keep, Trace};

/// Visits in a world, more or less.
const VISITS: f64 = 300.0;
const MIN_DURATION: Duration = Duration::from_secs(60);
const MAX_DURATION: Duration = Duration::from_secs(4 * 3600);
/// Between two looks at the gate.
const LOOK: Duration = Duration::from_secs(1);
/// After the last client all timeouts of the gate and of connections have passed by then.
const SETTLED: Duration = Duration::from_secs(3600);
/// Clients at once: a bound on what a world costs.
const MAX_CLIENTS: u64 = 1000;
/// Requests that are remembered after their end.
const REMEMBERED: u64 = 20_000;

/// What came of a world.
#[derive(Debug, Clone, PartialEq)]
pub struct WorldOutcome {
    /// How long it lasted.
    pub simulated: Duration,
    /// How requests ended.
    pub tally: RequestCounts,
    /// What the network did.
    pub made: Made,
    /// What must not be.
    pub findings: Vec<Finding>,
    /// The hash of the trace.
    pub hash: u64,
    /// The trace, if it was kept.
    pub text: String,
}

/// Runs the world of `seed`, on a thread of its own: what a library keeps for a thread is as new to each world.
///
/// # Errors
/// When its configuration is not one, the runtime cannot be set up, or the gate panics in it.
pub fn run(seed: u64, keep: Keep) -> anyhow::Result<WorldOutcome> {
    let world = std::thread::Builder::new().spawn(move || run_here(seed, keep)).context("no thread")?;
    world.join().map_err(|_| anyhow::anyhow!("the world of seed {seed} panicked"))?
}

fn run_here(seed: u64, keep: Keep) -> anyhow::Result<WorldOutcome> {
    fastrand::seed(seed);
    let runtime = Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build_local(LocalOptions::default())
        .context("no runtime")?;
    runtime.block_on(live(Rc::new(Scenario::draw(seed)), keep))
}

async fn live(scenario: Rc<Scenario>, keep: Keep) -> anyhow::Result<WorldOutcome> {
    let began = Instant::now();
    let trace = Trace::new(keep);
    trace.line(format_args!("{scenario:?}"));
    let ledger = Ledger::new(trace.clone(), scenario.is_blameless());
    let network = Network::new(scenario.seed, scenario.faults.clone());
    let inside = Rc::new(Inside::default());
    for index in 0..scenario.servers {
        server::start(&scenario, index, &network, &ledger, &inside);
    }
    let gate = SimulatedGate::start("gate.toml", &scenario.config, &network).map_err(anyhow::Error::msg)?;
    let clients = Rc::new(Cell::new(0));
    let duration = Duration::from_secs_f64(VISITS / scenario.rate).clamp(MIN_DURATION, MAX_DURATION);
    let watching = tokio::task::spawn_local(watch(
        gate.clone(),
        Rc::clone(&scenario),
        ledger.clone(),
        Rc::clone(&inside),
    ));
    let mut arrivals = Draw::new(scenario.seed, 1);
    let mut number = 0;
    while began.elapsed() < duration {
        sleep(arrivals.span(Duration::from_secs_f64(1.0 / scenario.rate))).await;
        if clients.get() < MAX_CLIENTS {
            clients.set(clients.get() + 1);
            let (client, clients) = (Client::new(number, &scenario, &network, &ledger), Rc::clone(&clients));
            tokio::task::spawn_local(async move {
                client.visit().await;
                clients.set(clients.get() - 1);
            });
        }
        number += 1;
    }
    while clients.get() > 0 {
        sleep(LOOK).await;
    }
    sleep(SETTLED).await;
    watching.abort();
    ledger.close();
    at_rest(&gate.inspect(), &inside, &scenario, &ledger);
    Ok(WorldOutcome {
        simulated: began.elapsed(),
        tally: ledger.tally(),
        made: network.made(),
        findings: ledger.findings(),
        hash: trace.hash(),
        text: trace.text(),
    })
}

/// Looks at the gate again and again.
async fn watch(gate: SimulatedGate, scenario: Rc<Scenario>, ledger: Ledger, inside: Rc<Inside>) {
    loop {
        sleep(LOOK).await;
        ledger.forget_before(ledger.next().saturating_sub(REMEMBERED));
        let seen = gate.inspect();
        // A request whose body has come is worked on, whether there is a place for it or not.
        let most = scenario.max_window + seen.express + seen.resumed;
        if seen.in_service > most {
            ledger.find(format!("{} requests are inside the server, {most} may be", seen.in_service));
        }
        let with_servers = most + seen.streaming;
        if scenario.is_blameless() && inside.now() > with_servers {
            ledger.find(format!("servers have {} requests, {with_servers} may be", inside.now()));
        }
        if seen.dispatched != seen.finished + u64::from(seen.in_service + seen.streaming) {
            ledger.find(format!("requests do not add up: {seen:?}"));
        }
    }
}

/// An hour after the last client nothing is left.
fn at_rest(seen: &Inspection, inside: &Inside, scenario: &Scenario, ledger: &Ledger) {
    let left = [
        ("requests that wait", u64::from(seen.waiting)),
        ("requests inside the server", u64::from(seen.in_service)),
        ("requests without a place", u64::from(seen.streaming)),
        ("connections of clients", seen.clients),
        ("connections to servers", seen.upstream_connections),
        ("streams of clients", seen.streams),
        ("bytes of bodies read ahead", seen.ahead_bytes),
        ("bytes of responses unsent", seen.unsent_bytes),
    ];
    // Where connections go silent, no server is told that its client has gone.
    let in_servers = ("requests in the servers", u64::from(inside.now()));
    let is_told = scenario.faults.silences == 0.0;
    let left = left.into_iter().chain(is_told.then_some(in_servers));
    for (what, many) in left.filter(|(_, many)| *many > 0) {
        ledger.find(format!("an hour after the last client: {many} {what}"));
    }
}
