use super::*;
use catalogue::watch::{limits, processes};

mod causes;
mod logs;
mod parts;
mod queues;

/// A server that does 1000/s: levels from 250/s to twice that, each of which `see` adds samples to, given how much
/// of what the server can do is asked of it.
fn levels(see: impl Fn(Level, f64) -> Level) -> Vec<Level> {
    let level = |load: f64| {
        let mut level = Level {
            rate: 1000.0 * load,
            is_open: true,
            is_behind: load > 1.0,
            is_valid: true,
            ..Level::default()
        };
        level.summary.latency.processing.mean = if load > 1.0 { 0.2 } else { 0.01 };
        level.summary.rate.achieved = 1000.0 * load.min(1.0);
        level.summary.latency.total.mean = level.summary.latency.processing.mean;
        let level = level
            .with(processes::CPU, "httpd", &[0.2 * load])
            .with(limits::PROGRAM_PROCESSORS, "httpd", &[1.0])
            .with(limits::PROGRAM_PROCESSORS_BUSY, "httpd", &[0.2 * load])
            .with(limits::SOCKETS_UNREAD, "", &[0.0]);
        see(level, load)
    };
    [0.25, 0.5, 0.75, 0.98, 1.02, 1.5, 2.0].map(level).to_vec()
}

#[track_caller]
fn check(expected: Resource, see: impl Fn(Level, f64) -> Level) -> Verdict {
    let verdict = judge(levels(see));
    assert_eq!(verdict.bottleneck, Some(expected), "{verdict:?}");
    verdict
}

/// The queue stands when more is asked than can be done.
fn queueing(level: Level, load: f64) -> Level {
    let waiting = if load > 1.0 { 100.0 } else { 0.0 };
    level.with(limits::SOCKETS_UNACCEPTED, "", &[waiting; 10]).with(limits::LISTEN_OVERFLOWS, "", &[waiting])
}

#[test]
fn one_look_that_contradicts_others_moves_no_onset() {
    let shown = |shows: &[bool]| {
        onset(&shows.iter().zip(1..).map(|(it, at)| (f64::from(at), *it)).collect::<Vec<_>>())
    };
    assert_eq!(shown(&[false, true, true, false, true, true]), Some(2.0));
    assert_eq!(shown(&[true, false, false, false, true, true, true]), Some(5.0));
    assert_eq!(shown(&[true, true, true]), Some(1.0));
    assert_eq!((shown(&[true, false]), shown(&[])), (None, None));
}

/// A server that waits for no other has a descriptor for each client that waits for it.
#[test]
fn connections_that_gather_behind_a_processor_are_no_cause() {
    let gathered = |used: f64| {
        move |level: Level, load: f64| {
            queueing(level, load).with(processes::CPU, "httpd", &[used * load.min(1.0)]).with(
                limits::PROGRAM_DESCRIPTORS,
                "httpd",
                &[if load > 1.0 { 1.0 } else { 0.1 }],
            )
        }
    };
    let verdict = check(Resource::ServerCpu, gathered(0.99));
    assert!(verdict.evidence.iter().any(|it| it.contains(", fd-limit: ")), "{verdict:?}");
    check(Resource::FdLimit, gathered(0.5));
}

/// What the figures say counts, not only which resource it is.
#[test]
fn what_to_do_goes_by_what_was_seen() {
    let disk = |limit: f64| {
        move |level: Level, load: f64| {
            queueing(level, load)
                .with(limits::PROGRAM_IO_USED, "httpd", &[limit * load.min(1.1)])
                .with(limits::DISK_BUSY, "vda", &[(1.0 - limit) * load.min(1.0)])
                .with(limits::PROGRAM_DISK, "httpd", &[if load > 1.0 { 40.0 } else { 0.0 }])
        }
    };
    let of_group = check(Resource::Disk, disk(1.0));
    assert!(of_group.evidence[0].contains("while the disk itself was busy 0 % of the time"), "{of_group:?}");
    assert!(of_group.next[0].ends_with("A faster disk would not help."), "{of_group:?}");
    assert!(
        of_group.next[1].ends_with(
            "besides: processors of the server, 20 % at 1000/s. Unless something else comes first, that sets the limit then, at about 4902/s."
        ),
        "{of_group:?}"
    );
    let itself = check(Resource::Disk, disk(0.0));
    assert!(itself.next[0].ends_with("or get a faster one."), "{itself:?}");

    let full = check(Resource::SynQueue, |level, load| {
        let full = if load > 1.0 { 20.0 } else { 0.0 };
        level.with(limits::SYN_QUEUE_FULL, "", &[full]).with(limits::SOCKETS_ROOM, "", &[2.0])
    });
    assert_eq!(full.evidence[0], "20.0 SYNs/s found the SYN queue of 2 full.");
    assert!(full.next[0].contains("the listen queue of 2 places, so the server's backlog first"), "{full:?}");
}

/// A few clients with a request each can get more than is served when more wait, and nothing is at its end then.
#[test]
fn what_closed_loops_achieve_is_no_load() {
    let memory = |level: Level, load: f64| {
        queueing(level, load)
            .with(limits::PROGRAM_MEMORY_USED, "httpd", &[load.min(1.0)])
            .with(limits::PROGRAM_MEMORY_REFAULTS, "httpd", &[if load > 1.0 { 2000.0 } else { 0.0 }])
            .with(limits::PROGRAM_DISK, "httpd", &[if load > 1.0 { 40.0 } else { 0.0 }])
    };
    let mut levels = levels(memory);
    let rate = 3000.0;
    levels.push(Level { rate, is_open: false, is_behind: false, ..memory(levels[0].clone(), 0.5) });
    let verdict = judge(levels);
    assert_eq!(verdict.bottleneck, Some(Resource::Memory), "{verdict:?}");
}

#[test]
fn full_queues_are_a_consequence_of_the_processor() {
    let verdict = check(Resource::ServerCpu, |level, load| {
        let used = load.min(0.99);
        queueing(level, load).with(processes::CPU, "httpd", &[used]).with(
            limits::PROGRAM_PROCESSORS_BUSY,
            "httpd",
            &[used],
        )
    });
    let names: Vec<_> = verdict.onset.iter().map(|onset| onset.resource).collect();
    assert!(names.contains(&Resource::WorkerLimit) && names.contains(&Resource::AcceptQueue), "{verdict:?}");
    assert_eq!(verdict.onset[0], Onset { resource: Resource::ServerCpu, rate: 980.0 });
    assert!(verdict.evidence[0].contains("httpd used 0.99 of 1 processors"), "{verdict:?}");
    assert!(verdict.evidence[1].contains("processing grew most"), "{verdict:?}");
}

/// What the kernel does in interrupts is not the server's, and takes its processor nevertheless.
#[test]
fn a_processor_that_the_kernel_has_is_full_as_well() {
    let used = |busy: f64| {
        move |level: Level, load: f64| {
            queueing(level, load).with(processes::CPU, "httpd", &[0.75 * load.min(1.0)]).with(
                limits::PROGRAM_PROCESSORS_BUSY,
                "httpd",
                &[busy * load.min(1.0)],
            )
        }
    };
    check(Resource::ServerCpu, used(0.99));
    check(Resource::WorkerLimit, used(0.9));
}

#[test]
fn workers_that_are_taken_while_processors_are_idle_are_the_cause() {
    check(Resource::WorkerLimit, queueing);
}

#[test]
fn resources_at_their_ends_in_turns_are_told() {
    let in_turns = |full: [[bool; 8]; 2]| {
        move |level: Level, load: f64| {
            let [cpu, disk] =
                full.map(|looks| looks.map(|full| if full { 0.99 * load.min(1.0) } else { 0.1 }));
            queueing(level, load)
                .with(processes::CPU, "httpd", &cpu)
                .with(limits::DISK_BUSY, "vda", &disk)
                .with(limits::PROGRAM_DISK, "httpd", &disk)
        }
    };
    let first = |count: usize| std::array::from_fn(|at| at < count);
    let last = |count: usize| std::array::from_fn(|at| at >= 8 - count);
    let verdict = check(Resource::Alternating, in_turns([first(4), last(4)]));
    assert_eq!(
        verdict.evidence[0],
        "At its end in so many of all looks: processors of the server 50 %, disk 50 %, one of the two 100 %."
    );
    assert_eq!(verdict.next, ["Lift one of them, and measure again."]);
    check(Resource::Alternating, in_turns([first(4), last(2)]));
    // One of them whenever the other is, both at once, or neither for half of the time.
    check(Resource::WorkerLimit, in_turns([first(6), first(2)]));
    check(Resource::WorkerLimit, in_turns([first(4), first(4)]));
    check(Resource::WorkerLimit, in_turns([first(2), last(2)]));
    check(Resource::ServerCpu, in_turns([first(8), last(4)]));
    // Others use the disk.
    let of_others = in_turns([first(4), last(4)]);
    check(Resource::WorkerLimit, move |level, load| {
        of_others(level, load).with(limits::PROGRAM_DISK, "httpd", &[0.0; 8])
    });
    // A few looks can be chance.
    check(Resource::WorkerLimit, |level, load| {
        queueing(level, load)
            .with(processes::CPU, "httpd", &[0.99, 0.1])
            .with(limits::DISK_BUSY, "vda", &[0.1, 0.99])
            .with(limits::PROGRAM_DISK, "httpd", &[1.0; 2])
    });
}

#[test]
fn a_processor_behind_a_link_that_is_full_is_no_cause() {
    check(Resource::Network, |level, load| {
        let waits = if load > 0.9 { 9000.0 } else { 0.0 };
        level
            .with(limits::QUEUE_WAITING, "eth0", &[waits])
            .with(limits::QUEUE_OVERLIMITS, "eth0", &[waits])
            .with(processes::CPU, "httpd", &[load.min(1.0)])
    });
}

#[test]
fn quotas_locks_disks_and_memory_are_told_apart() {
    check(Resource::CpuQuota, |level, load| {
        queueing(level, load)
            .with(processes::CPU, "httpd", &[0.2 * load.min(1.0)])
            .with(limits::PROGRAM_CPU_QUOTA, "httpd", &[0.2])
            .with(limits::PROGRAM_CPU_THROTTLED, "httpd", &[if load > 0.9 { 0.9 } else { 0.0 }])
    });
    check(Resource::Serialization, |level, load| {
        // Two helpers that always sleep in a lock.
        let waits = if load > 1.0 { 30.0 } else { 0.5 };
        queueing(level, load).with(limits::PROGRAM_LOCK, "httpd", &[2.0 + waits])
    });
    let disk = |level: Level, load: f64| {
        let waits = if load > 1.0 { 20.0 } else { 0.2 };
        queueing(level, load).with(limits::PROGRAM_DISK, "httpd", &[waits]).with(
            limits::DISK_BUSY,
            "sda",
            &[load.min(0.99)],
        )
    };
    check(Resource::Disk, disk);
    check(Resource::Memory, |level, load| {
        disk(level, load).with(limits::PROGRAM_MEMORY_USED, "httpd", &[0.99]).with(
            limits::PROGRAM_MEMORY_REFAULTS,
            "httpd",
            &[5000.0],
        )
    });
}

#[test]
fn a_back_end_is_the_cause_when_it_takes_longer_than_alone() {
    let to_back_end = |per_request: [f64; 2]| {
        move |level: Level, load: f64| {
            let connections = level.summary.rate.achieved * per_request[usize::from(load > 1.0)];
            queueing(level, load).with(limits::OUTGOING, "9000", &[connections])
        }
    };
    check(Resource::BackEnd, to_back_end([0.008, 0.2]));
    check(Resource::WorkerLimit, to_back_end([0.008, 0.008]));
}

#[test]
fn descriptors_ports_and_the_generator() {
    check(Resource::FdLimit, |level, load| {
        queueing(level, load).with(limits::PROGRAM_DESCRIPTORS, "httpd", &[load.min(1.0)])
    });
    // A server that does nothing for a while when it is refused one.
    check(Resource::FdLimit, |level, load| {
        let used = if load > 1.0 { 0.5 } else { load };
        queueing(level, load).with(limits::PROGRAM_DESCRIPTORS, "httpd", &[used])
    });
    // One that ends at once.
    let verdict = check(Resource::FdLimit, |mut level, load| {
        level.refused.descriptors = Some("(24)Too many open files".to_owned());
        queueing(level, load).with(limits::PROGRAM_DESCRIPTORS, "httpd", &[0.6 * load.min(1.0)])
    });
    let evidence = &verdict.evidence[0];
    assert!(evidence.ends_with("that it may; its log says \"(24)Too many open files\"."), "{evidence}");
    check(Resource::EphemeralPorts, |mut level, load| {
        if load > 1.0 {
            level.is_valid = false;
            level.summary.client.without_port = 12;
        }
        level.with(limits::SOCKETS_PORTS_USED, "", &[load.min(1.0)])
    });
    check(Resource::Client, |mut level, load| {
        level.is_valid = load < 1.0;
        level.is_behind = false;
        level.summary.client.cpu = 0.1 * load.min(1.0);
        level.summary.client.waited = 0.85 * load.min(1.0);
        level
    });
    // With a quota that it has come to it waits longer than it works.
    check(Resource::Client, |mut level, load| {
        level.is_valid = load < 1.0;
        level.is_behind = false;
        level.summary.client.cpu = 0.05 * load.min(1.0);
        level.summary.client.waited = if load < 1.0 { 0.01 } else { 0.14 };
        level
    });
    // A generator that could never keep up has no load to compare with.
    check(Resource::Client, |mut level, _| {
        (level.is_valid, level.is_behind) = (false, false);
        level.summary.client.cpu = 0.95;
        level
    });
}

/// A rate that was too much by chance, with nothing at its end, and higher ones for which there were no ports.
#[test]
fn ports_are_the_limit_though_one_rate_was_too_much_for_nothing() {
    let mut short = levels(|mut level, load| {
        level.is_behind = (1.0..1.1).contains(&load);
        level.is_valid = load < 1.1;
        level.summary.client.without_port = if level.is_valid { 0 } else { 12 };
        level
    });
    let verdict = judge(short.clone());
    assert_eq!(verdict.bottleneck, Some(Resource::EphemeralPorts), "{verdict:?}");
    assert!((0.7..0.9).contains(&verdict.confidence), "{verdict:?}");
    // What the server was seen to be short of comes first.
    short.iter_mut().filter(|level| level.rate > 1000.0).for_each(|level| {
        *level = level.clone().with(processes::CPU, "httpd", &[1.0]);
    });
    assert_eq!(judge(short).bottleneck, Some(Resource::ServerCpu));
}

#[test]
fn a_generator_that_others_hold_up_is_no_bottleneck() {
    let disturbed = levels(|mut level, load| {
        level.is_behind = false;
        level.is_valid = load < 1.5;
        level.summary.client.cpu = 0.02;
        level
    });
    let verdict = judge(disturbed);
    assert_eq!(verdict.bottleneck, Some(Resource::None));
    assert!(verdict.evidence[0].contains("up to 1020/s"), "{verdict:?}");
}

#[test]
fn nothing_is_made_up() {
    let mut idle = levels(|level, _| level);
    idle.iter_mut().for_each(|level| level.is_behind = false);
    let verdict = judge(idle);
    assert_eq!((verdict.bottleneck, verdict.onset.len()), (Some(Resource::None), 0));
    assert!(verdict.evidence[0].contains("up to 2000/s"), "{verdict:?}");

    let unexplained = judge(levels(|level, _| level));
    assert_eq!((unexplained.bottleneck, unexplained.confidence), (None, 0.0));
    // A disk that others keep busy all the time does not keep this server from doing more.
    check(Resource::WorkerLimit, |level, load| {
        queueing(level, load).with(limits::PROGRAM_DISK, "httpd", &[2.0]).with(
            limits::DISK_BUSY,
            "sda",
            &[1.0],
        )
    });

    let light = Level { rate: 5.0, is_open: true, is_valid: true, ..Level::default() };
    let unseen = Level { rate: 10.0, is_behind: true, ..light.clone() };
    assert!(judge(vec![light, unseen]).evidence[0].contains("was not looked at"));
    assert_eq!(judge(Vec::new()), Verdict::default());
    // Closed loops wait for the server, so they say nothing of what it keeps up with.
    let closed = Level { rate: 10.0, is_valid: true, ..Level::default() };
    assert_eq!(judge(vec![closed]), Verdict::default());
}
