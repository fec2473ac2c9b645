//! Causes inside of the server, beside it, and on the way to it.

use super::*;
use catalogue::watch::{limits, processes};

/// A single processor that is full, of which the server has a share.
fn shared(level: Level, load: f64, own: f64, kept_waiting: f64) -> Level {
    let own = own * load.min(1.0);
    queueing(level, load)
        .with(processes::CPU, "httpd", &[own])
        .with(limits::PROGRAM_PROCESSORS_BUSY, "httpd", &[1.0])
        .with(limits::OTHERS, "backup", &[1.0 - own])
        .with(limits::PROGRAM_KEPT_WAITING, "httpd", &[if load > 1.0 { kept_waiting } else { 0.1 }])
}

#[test]
fn another_program_on_the_processor_is_named() {
    let verdict = check(Resource::OtherProgram, |level, load| shared(level, load, 0.5, 1.5));
    assert!(verdict.evidence[0].contains("most of it backup (0.50)"), "{verdict:?}");
    // It takes its share at any load, with threads of the server waiting for theirs.
    check(Resource::OtherProgram, |level, load| {
        shared(level, load, 0.5, 1.5).with(limits::PROGRAM_KEPT_WAITING, "httpd", &[1.0])
    });
    // One that takes what the server does not want is not in its way.
    check(Resource::WorkerLimit, |level, load| shared(level, load, 0.1, 0.05));
    // And one that takes a little of a processor that is full is not what it is full of.
    check(Resource::ServerCpu, |level, load| shared(level, load, 0.94, 2.0));
    check(Resource::Steal, |level, load| {
        shared(level, load, 0.5, 1.5).with(limits::OTHERS, "backup", &[0.0]).with(
            limits::PROGRAM_STOLEN,
            "httpd",
            &[0.45],
        )
    });
}

#[test]
fn a_loop_that_is_busy_or_held_up_is_told_from_workers() {
    check(Resource::EventLoop, |level, load| {
        queueing(level, load)
            .with(limits::PROGRAM_PROCESSORS, "httpd", &[2.0])
            .with(processes::CPU, "httpd", &[1.02 * load.min(1.0)])
            .with(limits::PROGRAM_BUSIEST, "httpd", &[load.min(1.0)])
    });
    let held_up = |threads: f64| {
        move |level: Level, load: f64| {
            let waits = if load > 1.0 { threads } else { 0.2 };
            queueing(level, load)
                .with(limits::PROGRAM_EVENT, "httpd", &[10.0 - waits])
                .with(limits::PROGRAM_SLEEP, "httpd", &[waits])
                .with(limits::SOCKETS_UNATTENDED, "", &[if load > 1.0 { 40.0 } else { 0.0 }; 10])
        }
    };
    let verdict = check(Resource::EventLoop, held_up(1.0));
    assert!(verdict.evidence[0].contains("waited for a time to pass (0.8 threads more"), "{verdict:?}");
    check(Resource::WorkerLimit, held_up(8.0));
}

#[test]
fn locks_within_a_process_and_between_processes_are_told_apart() {
    let waits = |at_futex: f64| {
        move |level: Level, load: f64| {
            let waiting = if load > 1.0 { 30.0 } else { 0.5 };
            queueing(level, load).with(limits::PROGRAM_LOCK, "httpd", &[waiting]).with(
                limits::PROGRAM_FUTEX,
                "httpd",
                &[at_futex * waiting],
            )
        }
    };
    check(Resource::ApplicationLock, waits(1.0));
    check(Resource::Serialization, waits(0.0));
    // Who tries again and again sleeps for longer and longer; who always sleeps as long is a worker.
    let sleeps = |per_request: f64| {
        move |level: Level, load: f64| {
            let asleep = if load > 1.0 { per_request * 1000.0 } else { 0.0 };
            queueing(level, load).with(limits::PROGRAM_SLEEP, "httpd", &[asleep])
        }
    };
    check(Resource::Serialization, sleeps(0.05));
    check(Resource::WorkerLimit, sleeps(0.01));
}

/// A request takes 10 ms at a light load, of which 1000/s are served: ten at a time.
fn held(level: Level, load: f64) -> Level {
    let owed = if load > 1.0 { 50.0 } else { 2.0 };
    level.with(limits::SOCKETS_OWED, "", &[owed]).with(limits::OUTGOING_KNOWN, "", &[1.0])
}

#[test]
fn places_of_the_application_are_told_from_those_of_the_server() {
    check(Resource::ApplicationPool, held);
    let pool = |connections: f64| {
        move |level: Level, load: f64| held(level, load).with(limits::OUTGOING, "5432", &[connections])
    };
    let verdict = check(Resource::ApplicationPool, pool(10.0));
    assert!(verdict.evidence[0].contains("never more than 10 connections to 5432"), "{verdict:?}");
    // So many could serve more than that, unless each takes longer, and is waited for.
    assert_eq!(judge(levels(pool(40.0))).bottleneck, None);
    check(Resource::BackEnd, |level, load| {
        let at_peers = if load > 1.0 { 40.0 } else { 2.0 };
        pool(40.0)(level, load).with(limits::PROGRAM_PEER, "httpd", &[at_peers])
    });
    // Where it is not known what the server connects to, it may wait for that.
    let blind = levels(|level, load| held(level, load).with(limits::OUTGOING_KNOWN, "", &[0.0]));
    assert_eq!(judge(blind).bottleneck, None);
    // One at a time, of many threads.
    let one = |level: Level, load: f64| {
        let mut level = held(level, load).with(limits::PROGRAM_FUTEX, "httpd", &[32.0]);
        level.summary.latency.processing.mean = 0.001;
        level
    };
    check(Resource::ApplicationLock, one);
    // Hardly any, and nothing that could be waited for.
    check(Resource::RateLimit, |level, load| {
        let mut level = held(level, load);
        level.summary.latency.processing.mean = 0.0002;
        level
    });
}

#[test]
fn refusals_on_purpose_are_told_from_those_of_who_can_do_no_more() {
    let refuses = |status: u16, used: f64| {
        move |mut level: Level, load: f64| {
            (level.summary.requests, level.summary.responses) = (1000, 1000);
            level.summary.status.insert(200, 1000);
            if load > 1.0 {
                level.summary.status.insert(status, 300);
                level.summary.status.insert(200, 700);
            }
            level.with(processes::CPU, "httpd", &[used * load.min(1.0)]).with(
                limits::PROGRAM_PROCESSORS_BUSY,
                "httpd",
                &[used * load.min(1.0)],
            )
        }
    };
    let verdict = check(Resource::RateLimit, refuses(429, 0.2));
    assert!(verdict.evidence[0].contains("answered 30 % with status 429"), "{verdict:?}");
    check(Resource::RateLimit, refuses(503, 0.2));
    check(Resource::ServerCpu, refuses(503, 0.99));
    assert_eq!(judge(levels(refuses(502, 0.2))).bottleneck, None);
    // It may be what stands behind it that can do no more.
    check(Resource::BackEnd, |level, load| {
        let waiting = if load > 1.0 { 30.0 } else { 0.0 };
        refuses(503, 0.2)(level, load).with(limits::OUTGOING_UNACCEPTED, "9000", &[waiting])
    });
}

#[test]
fn connections_on_which_nothing_is_asked_hold_workers() {
    let idle = |idle: f64| {
        move |level: Level, load: f64| {
            queueing(level, load).with(limits::SOCKETS_IDLE, "", &[idle * load.min(1.0)]).with(
                limits::SOCKETS_OWED,
                "",
                &[20.0 - idle],
            )
        }
    };
    check(Resource::KeptConnections, idle(18.0));
    check(Resource::WorkerLimit, idle(2.0));
}

#[test]
fn what_is_lost_on_the_way_is_so_at_any_load() {
    let loses = |used: f64| {
        move |level: Level, load: f64| {
            level
                .with(limits::SOCKETS_SEGMENTS, "", &[970.0])
                .with(limits::RETRANSMITS, "", &[32.0])
                .with(limits::SYN_RETRANSMITS, "", &[2.0])
                .with(processes::CPU, "httpd", &[used * load.min(1.0)])
                .with(limits::PROGRAM_PROCESSORS_BUSY, "httpd", &[used * load.min(1.0)])
        }
    };
    let verdict = check(Resource::PacketLoss, loses(0.2));
    assert!(verdict.evidence[0].contains("3.0 % of what was sent"), "{verdict:?}");
    check(Resource::ServerCpu, loses(1.0));
    // And is not what keeps a server from doing more that lacks workers.
    check(Resource::WorkerLimit, |level, load| queueing(loses(0.2)(level, load), load));
}

#[test]
fn what_is_asked_by_the_server_can_be_the_limit() {
    check(Resource::NameLookup, |level, load| {
        let under_way = 8.0 * load.min(1.0);
        queueing(level, load).with(limits::OUTGOING, "udp:53", &[under_way])
    });
    let queue = |level: Level, load: f64| {
        let waiting = if load > 1.0 { 30.0 } else { 0.0 };
        level.with(limits::OUTGOING_UNACCEPTED, "/run/php.sock", &[waiting; 10])
    };
    let verdict = check(Resource::BackEnd, queue);
    assert!(verdict.evidence[0].contains("30 connections to /run/php.sock"), "{verdict:?}");
    // Few looks at a light load, and fewer than should be in which an answer is awaited: it need not take longer now.
    let pool = |awaited_before: f64| {
        move |level: Level, load: f64| {
            let awaited = if load > 1.0 { 10.0 } else { awaited_before * load / 0.25 };
            held(level, load)
                .with(limits::OUTGOING, "5432", &[10.0; 5])
                .with(limits::OUTGOING_AWAITED, "5432", &[awaited; 5])
                .with(limits::SOCKETS_UNREAD, "", &[0.0; 5])
        }
    };
    check(Resource::ApplicationPool, pool(1.4));
    check(Resource::BackEnd, pool(0.2));
    // What has the processors is behind the server, and it has hardly any of them.
    check(Resource::BackEnd, |level, load| {
        level.with(limits::BEHIND, "php-fpm", &[0.8 * load.min(1.0)]).with(
            limits::PROGRAM_PROCESSORS_BUSY,
            "httpd",
            &[load.min(1.0)],
        )
    });
}

#[test]
fn a_processor_that_is_full_of_garbage_is_not_merely_full() {
    let collects = |share: f64| {
        move |level: Level, load: f64| {
            let used = 0.99 * load.min(1.0);
            queueing(level, load)
                .with(processes::CPU, "httpd", &[used])
                .with(limits::PROGRAM_PROCESSORS_BUSY, "httpd", &[used])
                .with(limits::PROGRAM_COLLECTOR, "httpd", &[share * used])
        }
    };
    check(Resource::GarbageCollection, collects(0.6));
    check(Resource::ServerCpu, collects(0.1));
}

#[test]
fn a_processor_that_is_full_of_handshakes_is_not_merely_full() {
    let shakes_hands = |share: f64, opened: u64, is_tls: bool| {
        move |level: Level, load: f64| {
            let used = 0.99 * load.min(1.0);
            let mut level = queueing(level, load)
                .with(processes::CPU, "httpd", &[used])
                .with(limits::PROGRAM_PROCESSORS_BUSY, "httpd", &[used])
                .with(limits::PROGRAM_HANDSHAKES, "httpd", &[share * used]);
            level.summary.responses = 1000;
            level.summary.connections.opened = opened;
            level.is_tls = is_tls;
            level
        }
    };
    check(Resource::Tls, shakes_hands(0.6, 1000, true));
    // On connections that are kept it is what is sent that is encrypted.
    check(Resource::ServerCpu, shakes_hands(0.6, 10, true));
    check(Resource::ServerCpu, shakes_hands(0.1, 1000, true));
    // Without TLS it is passwords, or tokens.
    check(Resource::ServerCpu, shakes_hands(0.6, 1000, false));
}

/// What all have together is no more than one, and the likeliest is the one that is named.
#[test]
fn candidates_are_a_distribution() {
    let verdict = check(Resource::OtherProgram, |level, load| shared(level, load, 0.5, 1.5));
    let sum: f64 = verdict.candidates.iter().map(|candidate| candidate.probability).sum();
    assert!(sum < 1.0 && verdict.candidates.is_sorted_by(|one, other| one.probability >= other.probability));
    assert_eq!(verdict.candidates[0].name, Resource::OtherProgram);
    assert_eq!(verdict.confidence, verdict.candidates[0].probability);
    let consequence = verdict.candidates.iter().find(|other| other.name == Resource::WorkerLimit).unwrap();
    assert!(consequence.contradicts[0].contains("waits for other-program"), "{consequence:?}");
    // What was looked at and is not at its end is told, too.
    let idle = check(Resource::WorkerLimit, queueing);
    let processors = idle.candidates.iter().find(|other| other.name == Resource::ServerCpu).unwrap();
    assert_eq!(processors.probability, 0.0);
    assert!(processors.contradicts[0].contains("20 % was in use"), "{processors:?}");
}

/// What is known at one load and not at the other is not compared.
#[test]
fn connections_are_not_compared_with_answers_that_are_awaited() {
    let kept = |is_known: bool| {
        move |level: Level, load: f64| {
            let waits = if load > 1.0 { [30.0; 10] } else { [0.0; 10] };
            let level =
                level.with(limits::OUTGOING, "8081", &[6.0; 5]).with(limits::SOCKETS_UNACCEPTED, "", &waits);
            let looks = if load > 0.4 && !is_known { 1 } else { 5 };
            let awaited = if load > 1.0 { 6.0 } else { 0.05 };
            level.with(limits::OUTGOING_AWAITED, "8081", &[awaited; 5][..looks]).with(
                limits::SOCKETS_UNREAD,
                "",
                &[0.0; 5],
            )
        }
    };
    check(Resource::WorkerLimit, kept(false));
    check(Resource::BackEnd, kept(true));
}

/// A pool has one connection where nothing can ask for a second: the only thread waits itself.
#[test]
fn a_loop_that_waits_itself_is_not_a_pool_of_one() {
    let asks = |is_held_up: bool| {
        move |level: Level, load: f64| {
            let busy = if is_held_up { 0.95 * load.min(1.0) } else { 0.0 };
            let mut level = held(level, load)
                .with(limits::OUTGOING, "8081", &[1.0])
                .with(processes::THREADS, "httpd", &[1.0])
                .with(limits::PROGRAM_EVENT, "httpd", &[1.0 - busy])
                .with(limits::PROGRAM_PEER, "httpd", &[busy])
                .with(limits::SOCKETS_UNATTENDED, "", &[if load > 1.0 { 9.0 } else { 0.0 }]);
            level.summary.latency.processing.mean = 0.001;
            level
        }
    };
    check(Resource::EventLoop, asks(true));
    check(Resource::ApplicationPool, asks(false));
}

/// Some accept no more connections long before there is no descriptor left.
#[test]
fn a_server_that_keeps_descriptors_back_lacks_them() {
    let keeps = |share: f64, waiting: f64| {
        move |level: Level, load: f64| {
            queueing(level, load)
                .with(processes::THREADS, "httpd", &[1.0])
                .with(limits::PROGRAM_EVENT, "httpd", &[waiting])
                .with(limits::PROGRAM_DESCRIPTORS, "httpd", &[share * load.min(1.0)])
        }
    };
    check(Resource::FdLimit, keeps(0.82, 1.0));
    check(Resource::WorkerLimit, keeps(0.82, 0.1));
    check(Resource::WorkerLimit, keeps(0.3, 1.0));
}

/// What is not at its end only because something else is in the way comes next.
#[test]
fn what_would_be_next_is_second() {
    let second = |verdict: Verdict| verdict.candidates[1].name;
    let busy =
        |level: Level, load: f64| held(level, load).with(processes::CPU, "httpd", &[0.75 * load.min(1.0)]);
    assert_eq!(second(check(Resource::ApplicationPool, busy)), Resource::ServerCpu);
    let now_and_then = |level: Level, load: f64| {
        let waiting = if load > 1.0 { [0.0, 9.0] } else { [0.0; 2] };
        held(level, load).with(limits::SOCKETS_UNACCEPTED, "", &waiting)
    };
    assert_eq!(second(check(Resource::ApplicationPool, now_and_then)), Resource::WorkerLimit);
    let one_behind = |level: Level, load: f64| {
        let [awaited, sleeping] = [0.8, 0.9].map(|share| share * load.min(1.0));
        let unread = if load > 1.0 { 9.0 } else { 0.0 };
        level
            .with(limits::OUTGOING, "8081", &[16.0])
            .with(limits::OUTGOING_AWAITED, "8081", &[awaited])
            .with(limits::PROGRAM_EVENT, "httpd", &[1.0 - sleeping])
            .with(limits::PROGRAM_SLEEP, "httpd", &[sleeping])
            .with(limits::SOCKETS_UNATTENDED, "", &[unread])
    };
    assert_eq!(second(check(Resource::EventLoop, one_behind)), Resource::BackEnd);
}

/// Threads that have something to do want a processor; of a hundred that wait for a lock two do.
#[test]
fn a_lock_is_seen_beside_what_has_the_processors() {
    let beside = |running: f64| {
        move |level: Level, load: f64| {
            shared(held(level, load), load, 0.5, 1.5)
                .with(limits::PROGRAM_FUTEX, "httpd", &[100.0])
                .with(limits::PROGRAM_RUNNING, "httpd", &[running])
                .with(limits::SOCKETS_UNACCEPTED, "", &[0.0])
        }
    };
    let has_lock = |verdict: &Verdict| {
        verdict.candidates.iter().any(|one| one.name == Resource::ApplicationPool && one.probability > 0.0)
    };
    assert!(has_lock(&check(Resource::OtherProgram, beside(2.0))));
    assert!(!has_lock(&check(Resource::OtherProgram, beside(45.0))));
}
