//! What servers say in their logs.

use super::*;
use catalogue::watch::{limits, processes};

/// nginx has no thread for each connection, and says itself that there are too many.
#[test]
fn connections_that_workers_have_no_place_for_are_their_limit() {
    let refuse = |used: f64, failed: u64| {
        move |mut level: Level, load: f64| {
            level.refused.connections = Some("64 worker_connections are not enough".to_owned());
            level.summary.requests = 1000;
            level.summary.status.insert(500, if load > 1.0 { failed } else { 0 });
            level.with(processes::CPU, "httpd", &[used * load.min(1.0)])
        }
    };
    let verdict = check(Resource::WorkerLimit, refuse(0.2, 50));
    assert_eq!(
        verdict.evidence[0],
        "Workers had all the connections that they may: 5.0 % of requests failed, and the log says \"64 worker_connections are not enough\"."
    );
    assert_eq!(verdict.onset, [Onset { resource: Resource::WorkerLimit, rate: 1020.0 }]);
    assert!(verdict.next[0].starts_with("Raise worker_connections."), "{verdict:?}");
    // They gather behind a processor as well.
    check(Resource::ServerCpu, refuse(0.99, 50));
    // The log is of other loads too.
    assert_eq!(judge(levels(refuse(0.2, 5))).bottleneck, None);
}

/// The ports of a proxy towards what stands behind it.
#[test]
fn a_server_without_ports_says_so_itself() {
    let refuse = |failed: u64, per_request: f64| {
        move |mut level: Level, load: f64| {
            level.refused.ports = Some("(99)Cannot assign requested address".to_owned());
            (level.summary.requests, level.summary.responses) = (1000, 1000);
            level.summary.status.insert(502, if load > 1.0 { failed } else { 0 });
            let times = if load > 1.0 { per_request } else { 0.008 };
            let connections = level.served() * times;
            level.with(limits::OUTGOING, "9000", &[connections]).with(
                limits::SOCKETS_PORTS_USED,
                "",
                &[load.min(1.0)],
            )
        }
    };
    let verdict = check(Resource::EphemeralPorts, refuse(500, 0.008));
    let evidence = &verdict.evidence[0];
    assert!(
        evidence.ends_with(
            "50.0 % of requests failed, and its log says \"(99)Cannot assign requested address\"."
        ),
        "{evidence}"
    );
    assert!(verdict.next[0].starts_with("Have the server keep its connections"), "{verdict:?}");
    // Not all say so.
    check(Resource::EphemeralPorts, |level, load| {
        let mut level = refuse(500, 0.008)(level, load);
        level.refused.ports = None;
        level
    });
    // They are held for longer where what is behind takes longer, or the server itself.
    check(Resource::BackEnd, refuse(500, 0.016));
    check(Resource::ServerCpu, |level, load| {
        refuse(500, 0.008)(level, load).with(processes::CPU, "httpd", &[0.99 * load.min(1.0)])
    });
    // The log is of other loads too, and of others who listen.
    assert_eq!(judge(levels(refuse(5, 0.008))).bottleneck, None);
    let few =
        levels(|level, load| refuse(500, 0.008)(level, load).with(limits::SOCKETS_PORTS_USED, "", &[0.1]));
    assert_eq!(judge(few).bottleneck, None);
}
