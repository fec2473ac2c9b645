//! What the schedule wants is what is begun: every arrival, at its time, whatever the process, the
//! ramp and the number of threads.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod common;

use std::num::NonZeroU32;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use common::{closed, ok, open, options, run, web};
use load::{Load, Options, Protocol};
use record::{RequestError, RequestRow, RunDirectory, RunInfo, Summary};
use traffic::{PoissonCheck, Process, Profile, Schedule};
use units::{Rate, Span, Time};

const RATE: f64 = 500.0;
const SEED: u64 = 42;
/// Enough for a test whether arrivals are Poisson.
const DURATION: Span = Span::from_secs(3);

/// A busy machine may spoil some runs; a generator that is wrong spoils all.
const RUNS: u32 = 4;

struct Begun {
    /// In the order of `intended`, inside the window.
    rows: Vec<RequestRow>,
    info: RunInfo,
    summary: Summary,
}

fn begun(options: Options) -> Begun {
    let server = web(|_| ok(10));
    let scratch = tempfile::tempdir().unwrap();
    let target = format!("http://{}/", server.address()).parse().unwrap();
    let summary = run(&Options { target, out: Some(scratch.path().into()), ..options }).summary;
    let record = RunDirectory::open(scratch.path()).unwrap();
    let info = record.info().unwrap();
    let rows = record.requests().unwrap().map(Result::unwrap);
    let mut rows: Vec<RequestRow> = rows.filter(|row| info.window.contains(row.intended)).collect();
    rows.sort_by_key(|row| row.intended);
    Begun { rows, info, summary }
}

fn at(load: Load, duration: Span) -> Options {
    Options { load, duration, seed: SEED, ..options(testkit::free_address()) }
}

fn intended(begun: &Begun) -> Vec<Time> {
    begun.rows.iter().map(|row| row.intended).collect()
}

fn gaps(times: &[Time]) -> Vec<Span> {
    times.windows(2).map(|two| two[1].since(two[0])).collect()
}

fn variation(gaps: &[Span]) -> f64 {
    let count = gaps.len() as f64;
    let mean = gaps.iter().map(|gap| gap.as_secs_f64()).sum::<f64>() / count;
    let squares: f64 = gaps.iter().map(|gap| (gap.as_secs_f64() - mean).powi(2)).sum();
    (squares / count).sqrt() / mean
}

fn is_poisson(times: &[Time]) -> bool {
    let mut check = PoissonCheck::new();
    let mean = Rate::per_second(RATE).unwrap().period();
    gaps(times).into_iter().for_each(|gap| check.record(gap, mean));
    check.verdict().unwrap() >= PoissonCheck::SUSPICIOUS
}

#[test]
fn every_process_asks_for_exactly_what_its_seed_says() {
    thread::scope(|scope| {
        for (process, cv) in [
            ("constant", 0.0..1e-6),
            ("poisson", 0.9..1.1),
            ("h2:3", 2.3..3.7),
            ("gamma:0.5", 0.45..0.55),
            ("lognormal:2", 1.4..2.6),
        ] {
            scope.spawn(move || check(process.parse().unwrap(), &cv));
        }
    });
}

#[track_caller]
fn check(process: Process, cv: &Range<f64>) {
    let begun = begun(at(open(RATE, process), DURATION));
    let profile = Profile::constant(Rate::per_second(RATE).unwrap());
    let schedule = Schedule::new(process, &profile, &[1.0], SEED).map(|arrival| arrival.time);
    let wanted: Vec<Time> = schedule.take_while(|time| begun.info.window.contains(*time)).collect();
    let asked = intended(&begun);
    assert_eq!(asked.len() as u64, begun.summary.requests, "{process}");
    assert!(asked == wanted, "{process}: {} arrivals of {}, or other times", asked.len(), wanted.len());
    let measured = variation(&gaps(&asked));
    assert!(cv.contains(&measured), "{process}: {measured}");
    assert!(begun.rows.iter().all(|row| row.started >= row.intended), "{process}: nothing begins early");
    assert_eq!(is_poisson(&asked), process == Process::Poisson, "{process}");
}

#[test]
fn poisson_arrivals_begin_as_poisson_arrivals() {
    for run in 1..=RUNS {
        let begun = begun(at(open(RATE, Process::Poisson), DURATION));
        let mut started: Vec<Time> = begun.rows.iter().map(|row| row.started).collect();
        started.sort();
        if is_poisson(&started) {
            return;
        }
        eprintln!("run {run}: {:?}", begun.summary.client);
    }
    panic!("the starts were not Poisson in {RUNS} runs");
}

#[test]
fn each_step_of_a_ramp_has_its_rate() {
    let ramp: traffic::Ramp = "100:500:200:600ms".parse().unwrap();
    let warmup = Span::from_millis(200);
    let load = Load::Open {
        rate: Rate::per_second(100.0).unwrap(),
        ramp: Some(ramp.clone()),
        process: Process::Constant,
        connections: None,
    };
    let begun = begun(Options { warmup, ..at(load, ramp.total()) });
    let levels: Vec<f64> = begun.info.steps.iter().map(|step| step.level).collect();
    assert_eq!(levels, [100.0, 300.0, 500.0]);
    for step in &begun.info.steps {
        let inside = |row: &&RequestRow| (step.from_ns..step.to_ns).contains(&row.intended.as_nanos());
        let count = begun.rows.iter().filter(inside).count() as f64;
        // The first and the last may be just outside.
        assert!((count - step.level * 0.6).abs() <= 1.0, "{count} at {}/s", step.level);
    }
    assert_eq!(begun.summary.rate.offered, 300.0);
}

#[test]
fn threads_share_one_schedule() {
    let with = |threads: u32, process: Process| {
        let threads = NonZeroU32::new(threads).unwrap();
        intended(&begun(Options { threads, ..at(open(RATE, process), Span::from_secs(3)) }))
    };
    thread::scope(|scope| {
        for process in ["constant", "h2:3"].map(|name| name.parse().unwrap()) {
            scope.spawn(move || {
                let alone = with(1, process);
                assert!(alone.len() > 1000);
                assert!(alone == with(3, process), "{process}");
            });
        }
        // Several Poisson processes are one.
        let together = with(2, Process::Poisson);
        let expected = DURATION.as_secs_f64() * RATE;
        assert!((together.len() as f64 - expected).abs() < 4.0 * expected.sqrt(), "{}", together.len());
        assert!(is_poisson(&together));
    });
}

/// The most requests that a server with pages of 20 ms had at once, and what is in the record, when 100
/// requests in 200 ms have four connections.
fn through_four(drain: Option<Span>) -> (u32, Vec<RequestRow>) {
    let (inside, most) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let seen = Arc::clone(&most);
    let server = web(move |_| {
        seen.fetch_max(inside.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        thread::sleep(Duration::from_millis(20));
        inside.fetch_sub(1, Ordering::SeqCst);
        ok(10)
    });
    let scratch = tempfile::tempdir().unwrap();
    let Load::Open { rate, ramp, process, .. } = open(RATE, Process::Constant) else { unreachable!() };
    let load = Load::Open { rate, ramp, process, connections: Some(4) };
    let out = Some(scratch.path().into());
    run(&Options { load, out, drain, ..options(server.address()) });
    let rows = RunDirectory::open(scratch.path()).unwrap().requests().unwrap().map(Result::unwrap);
    (most.load(Ordering::SeqCst), rows.filter(|row| row.intended < Time::from_nanos(200_000_000)).collect())
}

#[test]
fn who_finds_all_connections_taken_waits_and_that_counts() {
    let (most, rows) = through_four(None);
    assert!(most <= 4, "{most} at once");
    assert_eq!(rows.len(), 100);
    assert!(rows.iter().all(|row| row.error.is_none()), "{rows:?}");
    // 99 pages of 20 ms are before the last one, four at a time.
    let waits = rows.iter().map(|row| row.started.since(row.intended)).max().unwrap();
    assert!(waits >= Span::from_millis(280), "{waits}");
}

#[test]
fn those_whose_turn_never_came_are_in_the_record() {
    let (_, rows) = through_four(Some(Span::ZERO));
    assert_eq!(rows.len(), 100);
    assert!(rows.iter().any(|row| row.error == Some(RequestError::Censored)));
}

#[test]
fn so_many_as_were_asked_for_are_sent_whatever_the_loop() {
    let pipelined = Protocol { pipeline: NonZeroU32::new(3), ..Protocol::default() };
    for (load, protocol) in [
        (closed(4), Protocol::default()),
        (closed(4), pipelined),
        (open(2000.0, Process::Constant), Protocol::default()),
        (open(2000.0, Process::Poisson), Protocol::default()),
    ] {
        for (count, threads) in [(1, 2), (50, 1), (51, 2)] {
            let asked = Arc::new(AtomicU32::new(0));
            let seen = Arc::clone(&asked);
            let server = web(move |_| {
                seen.fetch_add(1, Ordering::SeqCst);
                ok(10)
            });
            let options = Options {
                load: load.clone(),
                protocol: protocol.clone(),
                count: Some(count),
                threads: NonZeroU32::new(threads).unwrap(),
                duration: Span::from_secs(60),
                ..options(server.address())
            };
            let began = std::time::Instant::now();
            let summary = run(&options).summary;
            let what = format!("{load:?}, {count}, {threads} threads");
            assert_eq!((summary.requests, summary.responses), (count, count), "{what}");
            assert_eq!(u64::from(asked.load(Ordering::SeqCst)), count, "{what}");
            assert!(began.elapsed() < Duration::from_secs(30), "{what}");
            assert!(summary.duration < 30.0 && summary.rate.achieved > 0.0, "{what}: {summary:?}");
        }
    }
}
