//! Queues that are full.

use super::*;
use catalogue::Metric;
use catalogue::watch::limits;

#[test]
fn a_queue_that_overflows_now_and_then_is_too_short() {
    let verdict = check(Resource::AcceptQueue, |mut level, load| {
        let full = if load > 1.0 { 5.0 } else { 0.0 };
        level.summary.requests = 500;
        level.summary.connections.reused = 100;
        level.summary.connections.syn_retransmits = 10;
        // Connections that are to be accepted soon have a place there as well, while the queue is full.
        level.with(limits::SOCKETS_UNACCEPTED, "", &[0.0]).with(limits::LISTEN_OVERFLOWS, "", &[full]).with(
            limits::SYN_QUEUE_FULL,
            "",
            &[2.0 * full],
        )
    });
    let evidence = &verdict.evidence[0];
    assert!(evidence.ends_with("queue full; clients sent 2.5 SYNs again for 100 connections."), "{evidence}");
}

/// A burst fills a short queue at a light load as well, which need not be told.
#[test]
fn a_queue_that_is_full_now_and_then_at_a_light_load_is_too_short_at_a_heavy_one() {
    let full = |at_quarter: f64, at_half: f64, queue: Metric| {
        move |level: Level, load: f64| {
            let share = match load {
                0.25 => at_quarter,
                0.5 => at_half,
                load if load > 1.0 => 0.04,
                _ => 0.0,
            };
            let full = share * level.rate;
            level.with(queue, "", &[full])
        }
    };
    let queues = [(Resource::AcceptQueue, LISTEN_QUEUE), (Resource::SynQueue, SYN_QUEUE)];
    for ((resource, queue), (quarter, half)) in queues.into_iter().flat_map(|queue| {
        [(0.0, 0.0), (0.025, 0.0), (0.0, 0.025), (0.006, 0.006)].map(|before| (queue, before))
    }) {
        let verdict = check(resource, full(quarter, half, queue));
        assert_eq!(verdict.onset, [Onset { resource, rate: 1020.0 }], "{quarter} {half}");
    }
    // As full as ever.
    assert_eq!(judge(levels(full(0.03, 0.03, LISTEN_QUEUE))).bottleneck, None);
}
