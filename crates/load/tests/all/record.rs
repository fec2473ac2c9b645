//! The record of a run: whole, true to the summary, and kept when things go wrong.

use std::collections::BTreeMap;

use crate::common::{ok, open, options, run, sessions, web};
use load::Options;
use record::{Error, RequestError, RequestRow, RunDirectory, SessionRow};
use traffic::Process;
use units::{Span, Time};

const WORKLOAD: &str = "
timeout = '5s'
[[page]]
url = '/one'
think = '10ms'
embedded = ['/bytes/100', '/bytes/200']
[[page]]
url = '/two'
";

fn answer(head: &str) -> Vec<u8> {
    match head.split(' ').nth(1) {
        Some("/bytes/100") => ok(100),
        Some("/bytes/200") => ok(200),
        _ => ok(50),
    }
}

#[test]
fn the_summary_can_be_had_again_from_the_record() {
    let scratch = tempfile::tempdir().unwrap();
    let server = web(answer);
    let summary = run(&Options {
        warmup: Span::from_millis(100),
        out: Some(scratch.path().join("run")),
        ..sessions(server.address(), WORKLOAD, 100.0)
    })
    .summary;

    let record = RunDirectory::open(scratch.path().join("run")).unwrap();
    let info = record.info().unwrap();
    assert!(info.ended.unwrap() > info.started && !info.interrupted);
    assert!(info.spec["workload"].as_str().unwrap().contains("/bytes/200"));
    assert_eq!(record.summary().unwrap(), summary);
    assert!(record.environment().unwrap().cpu.count > 0);
    assert!(record.counters().unwrap().rise("Tcp", "ActiveOpens").unwrap() > 0);

    let rows: Vec<RequestRow> = record.requests().unwrap().map(Result::unwrap).collect();
    let inside: Vec<&RequestRow> = rows.iter().filter(|row| info.window.contains(row.intended)).collect();
    assert!(inside.len() < rows.len(), "the warm-up is in the record, and not in the summary");
    assert_eq!(inside.len() as u64, summary.requests);
    assert_eq!(inside.iter().map(|row| row.bytes).sum::<u64>(), summary.bytes);
    let mut status = BTreeMap::new();
    for row in inside.iter().filter(|row| row.error.is_none()) {
        *status.entry(row.status.unwrap()).or_default() += 1;
    }
    assert_eq!(status, summary.status);
    assert_eq!(inside.iter().filter(|row| row.reused).count() as u64, summary.connections.reused);
    let longest = inside.iter().map(|row| row.latency()).max().unwrap();
    assert_eq!(longest.as_secs_f64(), summary.latency.total.max);

    let visits: Vec<SessionRow> = record.sessions().unwrap().map(Result::unwrap).collect();
    let inside = visits.iter().filter(|row| info.window.contains(row.started_ns));
    assert_eq!(inside.clone().count() as u64, summary.sessions.started);
    assert_eq!(inside.filter(|row| row.completed).count() as u64, summary.sessions.completed);
}

#[test]
fn phases_lie_one_behind_the_other_inside_their_session() {
    let scratch = tempfile::tempdir().unwrap();
    let server = web(answer);
    run(&Options { out: Some(scratch.path().into()), ..sessions(server.address(), WORKLOAD, 50.0) });
    let record = RunDirectory::open(scratch.path()).unwrap();
    let visits: BTreeMap<u64, SessionRow> =
        record.sessions().unwrap().map(Result::unwrap).map(|row| (row.session, row)).collect();
    let mut connections = BTreeMap::new();
    for row in record.requests().unwrap().map(Result::unwrap) {
        let visit = &visits[&row.session.unwrap()];
        let ended = visit.started_ns + visit.duration_ns + visit.think_ns;
        assert!(visit.started_ns <= row.intended && row.intended <= row.started, "{row:?}");
        assert!(row.ended() <= ended, "{row:?} ended after {visit:?}");
        assert_eq!(row.reused, row.connect_ns.is_zero(), "{row:?}");
        if row.error.is_none() {
            assert!(row.processing_ns.is_some() && row.transfer_ns.is_some(), "{row:?}");
        }
        let first_use = connections.insert(row.connection, row.session).is_none();
        assert!(first_use || row.reused, "{row:?}");
    }
    for visit in visits.values().filter(|visit| visit.completed) {
        assert_eq!(visit.requests, 4);
        assert_eq!(visit.think_ns, Span::from_millis(10));
    }
}

#[test]
fn the_same_seed_wants_the_same_at_the_same_times() {
    let server = web(answer);
    let intended = |seed: u64| -> Vec<Time> {
        let scratch = tempfile::tempdir().unwrap();
        run(&Options {
            load: open(200.0, Process::Poisson),
            out: Some(scratch.path().into()),
            seed,
            ..options(server.address())
        });
        let record = RunDirectory::open(scratch.path()).unwrap();
        let window = record.info().unwrap().window;
        let rows = record.requests().unwrap().map(|row| row.unwrap().intended);
        let mut times: Vec<Time> = rows.filter(|time| window.contains(*time)).collect();
        times.sort();
        times
    };
    let first = intended(7);
    assert!(!first.is_empty());
    assert_eq!(first, intended(7));
    assert_ne!(first, intended(8));
}

#[test]
fn open_loop_latency_counts_from_the_schedule() {
    // The server stands still for the whole window, then answers everybody at once.
    let awake = std::time::Instant::now() + std::time::Duration::from_millis(600);
    let server = web(move |_| {
        std::thread::sleep(awake.saturating_duration_since(std::time::Instant::now()));
        ok(1)
    });
    let load = open(200.0, Process::Constant);
    let summary = run(&Options { load, ..options(server.address()) }).summary;
    assert_eq!(summary.requests, 40, "the schedule does not wait for the server");
    assert_eq!(summary.responses, 40);
    assert!(summary.latency.total.p50 > 0.2, "{:?}", summary.latency.total);
}

#[test]
fn requests_that_the_end_cuts_off_are_in_the_record() {
    let scratch = tempfile::tempdir().unwrap();
    let server = web(|_| {
        std::thread::sleep(std::time::Duration::from_secs(2));
        ok(1)
    });
    let options = Options {
        out: Some(scratch.path().into()),
        drain: Some(Span::from_millis(50)),
        ..options(server.address())
    };
    assert_eq!(run(&options).summary.censored, 1);
    let rows: Vec<RequestRow> =
        RunDirectory::open(scratch.path()).unwrap().requests().unwrap().map(Result::unwrap).collect();
    assert_eq!(rows.iter().map(|row| row.error).collect::<Vec<_>>(), [Some(RequestError::Censored)]);
    assert!(rows[0].processing_ns.unwrap() > Span::from_millis(100), "{:?}", rows[0]);
}

#[test]
fn a_directory_with_a_run_in_it_is_refused_before_anything_is_sent() {
    let scratch = tempfile::tempdir().unwrap();
    let server = web(answer);
    let options = Options { out: Some(scratch.path().into()), ..options(server.address()) };
    run(&options);
    let error = load::run(&options).unwrap_err();
    assert!(matches!(error, load::Error::Record(Error::Occupied { .. })), "{error}");
}

#[test]
fn a_directory_that_cannot_be_made_is_named() {
    let options = Options { out: Some("/proc/nowhere".into()), ..options(testkit::free_address()) };
    let error = load::run(&options).unwrap_err().to_string();
    assert!(error.contains("/proc/nowhere"), "{error}");
}
