//! Parts of the server, what is awaited of others, and what is so for a part of the time.

use super::*;
use crate::verdict::stalls::Stalls;
use catalogue::watch::{limits, processes};
use units::{Span, Time};

/// What is seen at `light` and at what is too much.
fn more(load: f64, light: f64, heavy: f64) -> [f64; 10] {
    [if load > 1.0 { heavy } else { light }; 10]
}

#[test]
fn workers_behind_a_front_are_workers_of_the_server() {
    let at = "/run/php.sock";
    let taken = |level: Level, load: f64| level.with(limits::PARTS_UNACCEPTED, at, &more(load, 0.0, 30.0));
    let verdict = check(Resource::WorkerLimit, taken);
    assert!(verdict.evidence[0].contains("30 requests waited at /run/php.sock"), "{verdict:?}");
    // They wait for each other, at locks between processes.
    check(Resource::Serialization, |level, load| {
        taken(level, load).with(limits::PROGRAM_LOCK, "php-fpm", &more(load, 0.0, 8.0))
    });
    // Each has a connection to the same database, which takes no longer than before: no pool that is too small.
    check(Resource::WorkerLimit, |level, load| {
        taken(level, load).with(limits::OUTGOING, "5432", &[10.0; 10]).with(
            limits::SOCKETS_OWED,
            "",
            &more(load, 2.0, 40.0),
        )
    });
    // And what they use is used by the server.
    check(Resource::ServerCpu, |level, load| {
        taken(level, load)
            .with(limits::PROGRAM_PART, "php-fpm", &[0.9 * load.min(1.0)])
            .with(limits::PROGRAM_PROCESSORS, "php-fpm", &[1.0])
            .with(limits::PROGRAM_PROCESSORS_BUSY, "php-fpm", &[load.min(1.0)])
    });
}

/// On ten connections that are kept, whatever the load.
#[test]
fn what_is_awaited_on_kept_connections_tells_a_slow_back_end_from_a_small_pool() {
    let keeps = |awaited: [f64; 2]| {
        move |level: Level, load: f64| {
            level
                .with(limits::OUTGOING, "5432", &[10.0; 10])
                .with(limits::OUTGOING_AWAITED, "5432", &more(load, awaited[0] * load, awaited[1]))
                .with(limits::OUTGOING_KNOWN, "", &[1.0])
                .with(limits::SOCKETS_OWED, "", &more(load, 2.0, 50.0))
                .with(limits::SOCKETS_UNREAD, "", &[0.0; 10])
        }
    };
    let verdict = check(Resource::BackEnd, keeps([2.0, 9.0]));
    assert!(verdict.evidence[0].contains("9 answers of port 5432 were awaited: 9.0 ms"), "{verdict:?}");
    check(Resource::ApplicationPool, keeps([9.0, 9.5]));
}

/// What was to be sent to clients that have gone is counted as sent again.
#[test]
fn what_is_sent_again_on_connections_that_are_gone_is_not_lost() {
    let again = |bytes: f64| {
        move |level: Level, _| {
            level
                .with(limits::SOCKETS_SEGMENTS, "", &[970.0])
                .with(limits::RETRANSMITS, "", &[80.0])
                .with(limits::SOCKETS_SENT, "", &[1e6])
                .with(limits::SOCKETS_SENT_AGAIN, "", &[bytes])
        }
    };
    assert_eq!(judge(levels(again(0.0))).bottleneck, None);
    check(Resource::PacketLoss, again(40_000.0));
}

#[test]
fn a_loop_whose_wait_shows_in_no_thread_is_known_by_littles_law() {
    let alone = |millis: f64| {
        move |level: Level, load: f64| {
            let mut level = level
                .with(limits::SOCKETS_UNATTENDED, "", &more(load, 0.0, 20.0))
                .with(limits::SOCKETS_UNREAD, "", &more(load, 0.0, 20.0))
                .with(limits::OUTGOING_KNOWN, "", &[1.0])
                .with(limits::PROGRAM_FUTEX, "httpd", &[6.0])
                .with(limits::PROGRAM_LOCK, "httpd", &[6.0]);
            if load < 1.0 {
                level.summary.latency.processing.mean = millis / 1e3;
            }
            level
        }
    };
    check(Resource::EventLoop, alone(1.0));
    // Who has read many of them has a lock instead.
    check(Resource::ApplicationLock, |level, load| {
        alone(1.0)(level, load).with(limits::SOCKETS_OWED, "", &more(load, 1.0, 45.0))
    });
    // Of ten at a time nothing is known.
    assert_eq!(judge(levels(alone(10.0))).bottleneck, None);
}

#[test]
fn a_collector_that_stops_the_server_leaves_some_of_the_processor() {
    check(Resource::GarbageCollection, |level, load| {
        let used = 0.88 * (0.5 + 0.5 * load.min(1.0));
        level
            .with(processes::CPU, "httpd", &[used])
            .with(limits::PROGRAM_PROCESSORS_BUSY, "httpd", &[used + 0.02])
            .with(limits::PROGRAM_COLLECTOR, "httpd", &[0.7 * used])
    });
}

#[test]
fn handshakes_with_what_stands_behind_are_handshakes() {
    let asks = |asks: bool| {
        move |level: Level, load: f64| {
            let used = 0.99 * load.min(1.0);
            let level = level
                .with(processes::CPU, "httpd", &[used])
                .with(limits::PROGRAM_PROCESSORS_BUSY, "httpd", &[used])
                .with(limits::PROGRAM_HANDSHAKES, "httpd", &[0.6 * used]);
            if asks { level.with(limits::OUTGOING, "443", &[1.0]) } else { level }
        }
    };
    check(Resource::Tls, asks(true));
    check(Resource::ServerCpu, asks(false));
}

/// A server that keeps up with all that comes, and misses its objective at more than 1000/s for stalls of 80 ms.
fn stalls(level: Level, load: f64, seen: &[(Metric, &str, f64)]) -> Level {
    let mut level = level;
    level.summary.rate.achieved = level.rate;
    level.summary.latency.processing.mean = 0.01;
    if load > 1.0 {
        let while_stalled = seen.iter().fold(
            Level::default()
                .with(processes::CPU, "httpd", &[0.1])
                .with(limits::PROGRAM_PROCESSORS, "httpd", &[1.0])
                .with(limits::SOCKETS_UNREAD, "", &[0.0])
                .with(limits::OUTGOING_KNOWN, "", &[1.0]),
            |level, (metric, label, value)| level.with(*metric, label, &[*value]),
        );
        let stalls = Stalls {
            at: [Time::ZERO].into(),
            amid: [Time::ZERO].into(),
            part: 0.4,
            number: 2,
            length: Span::from_millis(80),
            of_slowest: 0.9,
        };
        level.stalled = Some((stalls, while_stalled.samples));
    }
    level
}

#[test]
fn what_holds_up_a_server_for_a_moment_is_seen_in_these_moments() {
    let beside = [
        (limits::PROGRAM_PROCESSORS_BUSY, "httpd", 0.9),
        (limits::PROGRAM_KEPT_WAITING, "httpd", 1.2),
        (limits::OTHERS, "backup", 0.8),
        (limits::SOCKETS_UNACCEPTED, "", 12.0),
    ];
    let verdict = check(Resource::OtherProgram, |level, load| stalls(level, load, &beside));
    assert!(
        verdict.evidence[0].starts_with("Nothing was answered for 80 ms at a time, 6 times"),
        "{verdict:?}"
    );
    check(Resource::ApplicationLock, |level, load| {
        stalls(
            level,
            load,
            &[(limits::SOCKETS_OWED, "", 30.0), (limits::PROGRAM_PROCESSORS_BUSY, "httpd", 0.1)],
        )
    });
    // At one rate only it is chance.
    let once = |level: Level, load: f64| {
        let mut level = stalls(level, load, &beside);
        level.stalled.take_if(|_| load < 2.0);
        level
    };
    assert_eq!(judge(levels(once)).bottleneck, None);
}

/// For half of the time processors are busy, and for the other half something holds requests back that is not seen.
#[test]
fn in_turns_with_what_is_not_seen() {
    check(Resource::Alternating, |level, load| {
        let (busy, idle) = if load > 1.0 { (1.0, 0.05) } else { (0.3, 0.05) };
        let looks = [busy, busy, busy, idle, idle, idle, busy, busy, busy, idle, idle, idle];
        level
            .with(processes::CPU, "httpd", &looks)
            .with(limits::PROGRAM_PROCESSORS_BUSY, "httpd", &looks)
            .with(limits::SOCKETS_OWED, "", &[if load > 1.0 { 30.0 } else { 1.0 }; 12])
            .with(limits::OUTGOING_KNOWN, "", &[1.0])
    });
}

/// Ten threads that wait for 10 ms each, behind the one that accepts and reads.
#[test]
fn threads_that_all_wait_are_workers_that_are_taken() {
    let waits = |threads: f64| {
        move |level: Level, load: f64| {
            level
                .with(limits::PROGRAM_SLEEP, "httpd", &more(load, 2.0, threads))
                .with(limits::SOCKETS_UNREAD, "", &more(load, 0.0, 40.0))
                .with(limits::SOCKETS_UNATTENDED, "", &more(load, 0.0, 40.0))
                .with(limits::SOCKETS_OWED, "", &more(load, 2.0, 50.0))
                .with(limits::OUTGOING_KNOWN, "", &[1.0])
        }
    };
    let verdict = check(Resource::WorkerLimit, waits(10.0));
    assert!(
        verdict.evidence[0].starts_with("10 threads waited for a time to pass all the time"),
        "{verdict:?}"
    );
    // Each for longer than alone: they try again and again for what another has.
    check(Resource::Serialization, waits(40.0));
}

#[test]
fn what_is_asked_may_wait_for_the_disk_of_the_same_group() {
    check(Resource::Disk, |level, load| {
        level
            .with(limits::PROGRAM_DISK, "httpd", &[0.0])
            .with(limits::PROGRAM_IO_USED, "httpd", &[load.min(1.0)])
            .with(limits::BEHIND, "postgres", &[0.1])
            .with(limits::OUTGOING, "/run/.s.PGSQL.5432", &more(load, 1.0, 6.0))
            .with(limits::PROGRAM_PEER, "httpd", &more(load, 0.5, 6.0))
    });
}

#[test]
fn a_generator_that_is_late_is_not_held_back() {
    let late = |level: Level, load: f64| {
        let mut level = level.with(limits::SOCKETS_OWED, "", &more(load, 2.0, 60.0)).with(
            limits::OUTGOING_KNOWN,
            "",
            &[1.0],
        );
        level.summary.latency.processing.mean = 0.0002;
        level.is_valid = load <= 1.0;
        level.summary.client.cpu = 0.97;
        level
    };
    check(Resource::Client, late);
}

/// A loop that has read all of them is one where there is hardly another thread, and none where there are many.
#[test]
fn a_loop_with_hardly_another_thread_may_have_read_many() {
    let threads = |number: f64| {
        move |level: Level, load: f64| {
            level
                .with(processes::THREADS, "httpd", &[number])
                .with(limits::PROGRAM_EVENT, "httpd", &more(load, 1.0, 0.2))
                .with(limits::PROGRAM_SLEEP, "httpd", &more(load, 0.0, 0.8))
                .with(limits::SOCKETS_OWED, "", &more(load, 1.0, 60.0))
                .with(limits::SOCKETS_UNATTENDED, "", &more(load, 0.0, 20.0))
                .with(limits::OUTGOING_KNOWN, "", &[1.0])
        }
    };
    check(Resource::EventLoop, threads(1.0));
    assert_ne!(judge(levels(threads(100.0))).bottleneck, Some(Resource::EventLoop));
}
