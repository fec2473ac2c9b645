//! Looks for tests.

use record::Quantiles;
use stats::Histogram;
use units::{Span, Time};

use crate::connections::ListenQueue;
use crate::requests::{Classes, Finished, Tally, Usage};
use crate::snapshot::{Setting, Snapshot, Totals};
use crate::{Overhead, Summary, kernel, network, processes};

pub(super) fn setting() -> Setting {
    Setting {
        title: "apache2 on port 80".to_owned(),
        budget: "1% of the processor time that the server uses".to_owned(),
        ..Setting::default()
    }
}

/// A request of so many bytes that was parsed for 100 us, processed for 2 ms and logged for 50 us.
fn request(bytes_sent: u64) -> Finished {
    let at = |micros| Time::ZERO + Span::from_micros(micros);
    let usage = |micros, reads, writes| Usage {
        user: Span::from_micros(micros),
        kernel: Span::from_micros(2 * micros),
        reads,
        writes,
        ..Usage::default()
    };
    Finished {
        established: Some(at(1000)),
        accepted: Some(at(1400)),
        began: at(1400),
        read: at(1430),
        parsed: Some(at(1500)),
        sent: Some(at(3500)),
        ended: at(3550),
        bytes_sent,
        is_first: true,
        is_arrival_seen: true,
        used: [usage(20, 1, 0), usage(100, 1, 2), usage(10, 0, 1)],
        ..Finished::default()
    }
}

/// Requests up to that second: more each time.
pub(super) fn totals(second: u64) -> Totals {
    let classes = Classes::default();
    let mut tally = Tally::new(classes.count());
    for count in 0..100 * second {
        tally.count(&request(if count % 20 == 0 { 200_000 } else { 12_000 }), &classes);
    }
    tally.watched = Span::from_secs(1);
    tally.stand_for(Span::from_secs(1), Span::ZERO);
    Totals { classes: classes.names(), tally }
}

/// The look at that second.
pub(super) fn snapshot(second: u64) -> Snapshot {
    let Totals { tally, .. } = totals(second);
    let kernel = kernel::Rates {
        cpu_user: 0.2,
        cpu_system: 0.3,
        cpu_idle: 0.4,
        cpu_io_wait: 0.1,
        context_switches: 1000.0 * second as f64,
        run_queue: 3,
        ..kernel::Rates::default()
    };
    let used = processes::Rates {
        cpu: 0.9,
        memory: 50 << 20,
        processes: 9,
        threads: 9,
        ..processes::Rates::default()
    };
    let carried =
        network::Rates { received_bytes: 1e6, received_packets: 900.0, ..network::Rates::default() };
    let mut latest = Summary {
        kernel: Some(kernel),
        processes: [("apache2".to_owned(), used)].into(),
        network: [("lo".to_owned(), carried), ("eth0".to_owned(), network::Rates::default())].into(),
        connections: [("ESTAB".to_owned(), 30 + second), ("TIME-WAIT".to_owned(), 900)].into(),
        listen_queues: [(80, ListenQueue { waiting: 24, room: Some(511), drops: Some(4.0) })].into(),
        ..Summary::default()
    };
    latest.add_requests(&tally, &Classes::default());
    let mut took = Histogram::new();
    took.record(Span::from_micros(250));
    Snapshot {
        age: Span::from_secs(second),
        requests: latest.requests.clone(),
        waits: latest.waits.clone(),
        followed: latest.followed,
        latest,
        overhead: Overhead { cpu: 0.008, sample_cost: Quantiles::of(&took), duty: 0.02 },
        notes: vec!["kernel: eBPF".to_owned(), "connections: /proc, because of a reason".to_owned()],
        untold: None,
    }
}

/// A look before any window was open.
pub(super) fn nothing_yet() -> Snapshot {
    let empty = Overhead { cpu: 0.0, sample_cost: Quantiles::default(), duty: 0.0 };
    Snapshot {
        age: Span::from_secs(1),
        latest: Summary::default(),
        requests: Default::default(),
        waits: None,
        followed: None,
        overhead: empty,
        notes: Vec::new(),
        untold: None,
    }
}
