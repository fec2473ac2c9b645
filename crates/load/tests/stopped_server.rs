//! A server that stands still for a second, in the figures: what arithmetic predicts.
//!
//! Constant arrivals at a rate R over T seconds meet a stop of S seconds: R S of them come while
//! the server stands still, and one that comes u seconds after its beginning waits for S - u. So
//! R (S - x) of all R T wait for longer than x, and the latency at quantile q is S - (1 - q) T,
//! or next to nothing where that is negative. In a closed loop each client waits once, and asks
//! for nothing meanwhile.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod common;

use std::num::NonZeroU32;
use std::thread;
use std::time::{Duration, Instant};

use common::{open, options, run};
use load::{Backend, Load, Options, Protocol};
use record::{RequestRow, RunDirectory, Summary};
use testkit::Nginx;
use traffic::{Process, Think};
use units::Span;

const RATE: f64 = 200.0;
const WINDOW: Duration = Duration::from_secs(5);
const BEFORE_STOP: Duration = Duration::from_millis(1500);
const STOP: Duration = Duration::from_secs(1);
const CLIENTS: u32 = 8;

/// What the machine may add to a latency, s: it has other work, and the server answers those who
/// have waited one after the other. A twentieth of the stop, so that the tenths of a second
/// between the percentiles are told apart.
const TOLERANCE: f64 = 0.05;

/// A busy machine may spoil some runs; a generator that is wrong spoils all.
const RUNS: u32 = 4;

struct Stopped {
    summary: Summary,
    rows: Vec<RequestRow>,
    /// How long the server stood still, s.
    stop: f64,
}

/// A run in the middle of which the server stands still.
fn stopped(load: Load, backend: Backend, requests_per_connection: Option<NonZeroU32>) -> Option<Stopped> {
    let content = tempfile::tempdir().unwrap();
    std::fs::write(content.path().join("index.html"), "hello").unwrap();
    let server = Nginx::start(content.path(), "keepalive_requests 1000000;")?;
    let scratch = tempfile::tempdir().unwrap();
    let options = Options {
        target: server.url().parse().unwrap(),
        load,
        backend,
        protocol: Protocol { requests_per_connection, ..Protocol::default() },
        duration: WINDOW.into(),
        out: Some(scratch.path().into()),
        ..options(testkit::free_address())
    };
    let (summary, stop) = thread::scope(|scope| {
        let generator = scope.spawn(|| run(&options).summary);
        thread::sleep(BEFORE_STOP);
        let began = Instant::now();
        server.stop_for(STOP);
        let stop = began.elapsed().as_secs_f64();
        (generator.join().unwrap(), stop)
    });
    let record = RunDirectory::open(scratch.path()).unwrap();
    let window = record.info().unwrap().window;
    let rows = record.requests().unwrap().map(Result::unwrap);
    let rows = rows.filter(|row| window.contains(row.intended)).collect();
    Some(Stopped { summary, rows, stop })
}

/// Runs both ways to the kernel, with connections that are kept and with one for each request,
/// all at the same time; each must be right.
#[track_caller]
fn check(load: &Load, verdict: fn(&Stopped) -> Result<(), String>) {
    thread::scope(|scope| {
        for backend in [Backend::Auto, Backend::Epoll] {
            for requests_per_connection in [None, NonZeroU32::new(1)] {
                scope.spawn(move || {
                    for run in 1..=RUNS {
                        let Some(stopped) = stopped(load.clone(), backend, requests_per_connection) else {
                            return;
                        };
                        match verdict(&stopped) {
                            Ok(()) => return,
                            Err(wrong) => {
                                eprintln!("run {run}, {backend}, {requests_per_connection:?}: {wrong}")
                            }
                        }
                    }
                    panic!(
                        "{backend}, {requests_per_connection:?} requests per connection: wrong in {RUNS} runs"
                    );
                });
            }
        }
    });
}

fn near(what: &str, measured: f64, expected: f64) -> Result<(), String> {
    let ok = (measured - expected).abs() <= TOLERANCE;
    ok.then_some(()).ok_or_else(|| format!("{what} is {measured:.3}, not {expected:.3}"))
}

fn all_answered(stopped: &Stopped) -> Result<(), String> {
    let summary = &stopped.summary;
    let ok = summary.responses == summary.requests && summary.requests == stopped.rows.len() as u64;
    ok.then_some(()).ok_or_else(|| format!("{} of {} answered", summary.responses, summary.requests))
}

/// The kernel completes handshakes for a server that stands still: what waits is the request.
fn waited_in_processing(stopped: &Stopped) -> Result<(), String> {
    let latency = &stopped.summary.latency;
    for (phase, longest) in [("connect", latency.connect.max), ("transfer", latency.transfer.max)] {
        if longest > stopped.stop / 4.0 {
            return Err(format!("the longest {phase} is {longest:.3}"));
        }
    }
    near("longest processing", latency.processing.max, stopped.stop)
}

#[test]
fn in_an_open_loop_the_stop_is_in_the_percentiles_as_arithmetic_predicts() {
    check(&open(RATE, Process::Constant), |stopped| {
        all_answered(stopped)?;
        waited_in_processing(stopped)?;
        let (stop, window) = (stopped.stop, WINDOW.as_secs_f64());
        let wanted = RATE * window;
        if stopped.summary.requests as f64 != wanted {
            return Err(format!("{} requests, not {wanted}", stopped.summary.requests));
        }
        let total = &stopped.summary.latency.total;
        for (quantile, measured) in
            [(0.5, total.p50), (0.9, total.p90), (0.99, total.p99), (0.999, total.p999), (1.0, total.max)]
        {
            let expected = (stop - (1.0 - quantile) * window).max(0.0);
            near(&format!("latency at {quantile}"), measured, expected)?;
        }
        let mean = stop * stop / 2.0 / window;
        if (total.mean - mean).abs() > TOLERANCE * stop / window {
            return Err(format!("the mean is {:.4}, not {mean:.4}", total.mean));
        }
        for tenth in 1..10 {
            let x = stop * f64::from(tenth) / 10.0;
            let longer = stopped.rows.iter().filter(|row| row.latency().as_secs_f64() > x).count();
            near(&format!("wait of those beyond {x:.1} s"), longer as f64 / RATE, stop - x)?;
        }
        Ok(())
    });
}

#[test]
fn in_a_closed_loop_each_client_waits_once_and_the_percentiles_hide_it() {
    // A pause keeps four runs at a time from filling the machine.
    let think = Think::constant(Span::from_millis(5));
    check(&Load::Closed { clients: CLIENTS, ramp: None, think: Some(think) }, |stopped| {
        all_answered(stopped)?;
        waited_in_processing(stopped)?;
        let stop = stopped.stop;
        let waits: Vec<f64> = stopped.rows.iter().map(|row| row.latency().as_secs_f64()).collect();
        let long: Vec<f64> = waits.iter().copied().filter(|wait| *wait > stop / 2.0).collect();
        if long.len() != CLIENTS as usize {
            return Err(format!("{} requests of {CLIENTS} clients waited: {long:?}", long.len()));
        }
        for wait in long {
            near("wait", wait, stop)?;
        }
        // A fifth of the time is missing, and 99 % of the requests know nothing of it.
        near("p99", stopped.summary.latency.total.p99, 0.0)?;
        // Nothing is asked for meanwhile, so that the count falls as the time that is left.
        let mut begun: Vec<_> = stopped.rows.iter().map(|row| row.intended).collect();
        begun.sort();
        let gaps = begun.windows(2).map(|two| two[1].since(two[0]).as_secs_f64());
        near("longest time in which nothing was asked for", gaps.fold(0.0, f64::max), stop)
    });
}
