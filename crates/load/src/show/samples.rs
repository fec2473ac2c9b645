//! Snapshots of a run that never was, for tests of views.

use std::collections::BTreeMap;

use record::{ErrorCounts, ObjectiveResult, Window};
use stats::Histogram;
use units::{Rate, Span, Time};

use super::snapshot::{Generator, Latencies, Level, Recent, Setting, Snapshot, Whole};

pub(super) fn setting() -> Setting {
    Setting {
        target: "http://127.0.0.1:8080/index.html".to_owned(),
        load: "open loop, 2000 requests/s, poisson".to_owned(),
        window: Window::new(Time::ZERO + Span::from_secs(5), Span::from_secs(30)),
        sessions: false,
    }
}

/// The snapshot after so many seconds.
pub(super) fn snapshot(second: u64) -> Snapshot {
    let errors = ErrorCounts { timeout: second % 3, reset: 1, ..ErrorCounts::default() };
    Snapshot {
        now: Time::ZERO + Span::from_secs(second),
        elapsed: Span::from_secs(1),
        offered: Rate::per_second(2000.0),
        level: None,
        running: 37,
        connections: 64,
        recent: Recent {
            requests: 2000,
            responses: 1900 + second * 5,
            bytes: 1_945_600,
            errors,
            sessions_completed: 40,
            sessions_lost: 1,
            latency: phases(1900),
        },
        whole: Whole {
            requests: 20_000,
            bytes: 20_275_200,
            errors: ErrorCounts { connect: 3, timeout: 40, reset: 7, protocol: 0, body: 0 },
            status: BTreeMap::from([(200, 19_500), (304, 240), (503, 60)]),
            censored: 40,
            done_inside: 14_000,
            opened: 64,
            reused: 19_736,
            syn_retransmits: 2,
            connect_timeouts: 1,
            latency: phases(19_800),
        },
        objectives: vec![
            ObjectiveResult { objective: "p99<50ms".to_owned(), measured: Some(0.014), met: true },
            ObjectiveResult { objective: "errors<=0.1%".to_owned(), measured: Some(0.0025), met: false },
        ],
        generator: Generator {
            cpu: 0.43,
            lag_p99: Span::from_micros(21),
            lag_max: Span::from_micros(310),
            why_invalid: Vec::new(),
        },
    }
}

/// A snapshot of a run that is in trouble, on a ramp.
pub(super) fn trouble(second: u64) -> Snapshot {
    let mut snapshot = snapshot(second);
    snapshot.level = Some(Level { number: 3, of: 5, value: 3000.0, unit: "requests/s" });
    snapshot.generator.cpu = 0.97;
    snapshot.generator.why_invalid = vec![
        "the generator used 97 % of its processor, more than 90 %: it, not the server, may have set the rate"
            .to_owned(),
        "3 connections failed because the generator had no port left".to_owned(),
    ];
    snapshot
}

fn phases(count: u64) -> Latencies {
    let spread = |from_us: u64, step_ns: u64| {
        let mut histogram = Histogram::new();
        (0..count).for_each(|i| histogram.record(Span::from_nanos(from_us * 1000 + i * step_ns)));
        histogram
    };
    let mut connect = Histogram::new();
    (0..64).for_each(|i| connect.record(Span::from_micros(40 + i)));
    Latencies { total: spread(300, 700), connect, processing: spread(250, 600), transfer: spread(5, 90) }
}
