//! Counts agree to the request with the access logs of nginx and Apache, in every mode, failures
//! included, over both ways to the kernel.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;

use crate::common::agree::{
    Agreed, BACKENDS, Server, agree, at_once, check, check_nginx, clients, clients_thinking, documents,
    options, per_connection, pipeline, versions,
};
use crate::common::{closed, open};
use load::{Http, Load, Options, Protocol, Request, Script, Via};
use testkit::{Apache, Mpm, Nginx};
use traffic::model::{Model, ModelName, content};
use traffic::trace::AccessLog;
use traffic::{Process, Think, Workload};
use units::{Rate, Span};

#[test]
fn connections_that_are_kept() {
    at_once(["/one", "/many"], |path| {
        check(
            path,
            |_| (),
            |agreed| {
                agreed.all_responded();
                versions(agreed, "GET ", " HTTP/1.1");
                agreed.opened(2..=2);
            },
        );
    });
}

#[test]
fn connections_for_one_request_or_a_few() {
    at_once([(1, "/one"), (2, "/one"), (8, "/one"), (1, "/many"), (3, "/many")], |(most, path)| {
        let change = |options: &mut Options| options.protocol = per_connection(most);
        check(path, change, |agreed| {
            agreed.all_responded();
            assert_eq!(agreed.most_per_connection(), u64::from(most));
            let least = agreed.summary.requests.div_ceil(u64::from(most));
            agreed.opened(least..=least + 1);
        });
    });
}

#[test]
fn pipelines() {
    check(
        "/one",
        |options| options.protocol = pipeline(4),
        |agreed| {
            agreed.all_responded();
            agreed.opened(2..=2);
        },
    );
    let both = |options: &mut Options| {
        options.protocol = Protocol { pipeline: NonZeroU32::new(4), ..per_connection(8) };
    };
    check("/many", both, |agreed| {
        agreed.all_responded();
        assert_eq!(agreed.most_per_connection(), 8);
    });
}

#[test]
fn a_server_that_ends_connections_ends_no_requests() {
    for protocol in [Protocol::default(), pipeline(4)] {
        let change = |options: &mut Options, _: &Nginx| options.protocol = protocol.clone();
        check_nginx("keepalive_requests 10;", "/one", change, |agreed| {
            agreed.all_responded();
            assert_eq!(agreed.most_per_connection(), 10);
        });
    }
}

#[test]
fn http_1_0_with_and_without_keep_alive() {
    at_once([1, u32::MAX], |most| {
        let change = |options: &mut Options| {
            options.protocol = Protocol { http: Http::Http10, ..per_connection(most) };
        };
        check("/one", change, |agreed| {
            agreed.all_responded();
            versions(agreed, "GET ", " HTTP/1.0");
            assert_eq!(agreed.most_per_connection() > 1, most > 1);
        });
    });
}

#[test]
fn head_and_post() {
    let method = |name: &str| Some(name.to_owned());
    check(
        "/many",
        |options| options.request.method = method("HEAD"),
        |agreed| {
            agreed.all_responded();
            versions(agreed, "HEAD ", " HTTP/1.1");
            assert_eq!(agreed.summary.bytes, 0);
        },
    );
    for protocol in [Protocol::default(), pipeline(3)] {
        let change = |options: &mut Options, _: &Nginx| {
            options.request = Request { body: Some(vec![b'y'; 3000].into()), ..Request::default() };
            options.protocol = protocol.clone();
        };
        check_nginx("location /take { return 200 taken; }", "/take", change, |agreed| {
            agreed.all_responded();
            versions(agreed, "POST ", " HTTP/1.1");
        });
    }
    let documents = documents();
    let Some(apache) = Apache::start(Mpm::Prefork, documents.path(), "") else { return };
    let server = Server::Apache(apache);
    let request = Request { body: Some(vec![b'y'; 3000].into()), ..Request::default() };
    let posts = Options { request, ..options(&server, "/one") };
    let agreed = agree(server, posts);
    agreed.all_responded();
    assert!(agreed.log.iter().all(|line| line.request_bytes > 3000), "{:?}", agreed.log.first());
}

#[test]
fn open_loops() {
    at_once([(Process::Constant, u32::MAX), (Process::Poisson, 2)], |(process, most)| {
        let ramp = |options: &mut Options| {
            options.protocol = per_connection(most);
            let rate = Rate::per_second(500.0).unwrap();
            options.load =
                Load::Open { rate, ramp: "500:0:500:100ms".parse().ok(), process, connections: None };
        };
        check("/one", ramp, |agreed| {
            agreed.all_responded();
            assert!((20..100).contains(&agreed.summary.requests), "{}", agreed.summary.requests);
        });
    });
}

#[test]
fn what_the_end_of_the_run_cuts_off() {
    let loads = [open(2000.0, Process::Poisson), closed(8), closed(1)];
    at_once(loads, |load| {
        let change = |options: &mut Options| {
            options.load = load.clone();
            options.warmup = Span::from_millis(100);
        };
        check("/many", change, |agreed| {
            assert_eq!(agreed.summary.errors.total(), 0);
            assert!(agreed.summary.requests > 8);
            assert!((agreed.summary.requests as usize) < agreed.rows.len(), "the warm-up does not count");
        });
    });
}

#[test]
fn several_threads_and_clients_that_think() {
    at_once([true, false], |pauses| {
        let think = Think::exponential(Span::from_millis(if pauses { 5 } else { 0 }));
        let change = |options: &mut Options| {
            options.threads = NonZeroU32::new(2).unwrap();
            options.load = clients_thinking(5, Some(think));
        };
        check("/one", change, |agreed| {
            agreed.all_responded();
            agreed.opened(5..=5);
        });
    });
}

#[test]
fn more_clients_than_buffers() {
    let change = |options: &mut Options, _: &Nginx| options.load = clients(300);
    check_nginx("keepalive_requests 100000;", "/many", change, |agreed| {
        agreed.all_responded();
        agreed.opened(300..=300);
    });
}

const SHOP: &str = "
kind = 'sessions'
timeout = '5s'
connections = 3
[[page]]
url = '/page'
embedded = ['/inside/a', '/inside/b', '/inside/c', '/inside/d']
[[page]]
url = '/inside/last'
";

#[test]
fn sessions_with_cookies() {
    let extra = "
        location = /page { add_header Set-Cookie 'id=7; Path=/'; return 200 page; }
        location /inside { if ($cookie_id != 7) { return 403; } return 200 inside; }";
    let change = |options: &mut Options, _: &Nginx| {
        let source = config::Source::new("shop.toml", SHOP.to_owned());
        let workload = Workload::parse(&source).unwrap();
        options.script = Script::Sessions { workload: Box::new(workload), text: SHOP.to_owned() };
        options.target = options.target.to_string().replace("/any", "/").parse().unwrap();
        let rate = Rate::per_second(100.0).unwrap();
        options.load = Load::Open {
            rate,
            ramp: "100:0:100:100ms".parse().ok(),
            process: Process::Constant,
            connections: None,
        };
    };
    check_nginx(extra, "/any", change, |agreed| {
        agreed.all_responded();
        assert_eq!(agreed.summary.status.keys().collect::<Vec<_>>(), [&200], "cookies are sent back");
        assert_eq!(agreed.summary.sessions.completed * 6, agreed.summary.requests);
    });
}

#[test]
fn a_model_over_its_own_content() {
    let model = Model::named(ModelName::WebStone, 1);
    let root = tempfile::tempdir().unwrap();
    content::write(root.path(), &model).unwrap();
    for backend in BACKENDS {
        let Some(nginx) = Nginx::start(root.path(), "keepalive_requests 100000;") else { return };
        let server = Server::Nginx(nginx);
        let script = Script::Model(Box::new(model.clone()));
        let plain = options(&server, "/");
        let agreed = agree(server, Options { backend, script, ..plain });
        agreed.all_responded();
        assert!(agreed.summary.bytes > 100_000);
    }
}

#[test]
fn a_trace_is_replayed_as_it_was() {
    let line = |second: u32, request: &str| {
        format!("127.0.0.1 - - [10/Oct/2000:13:55:{second:02} +0000] \"{request} HTTP/1.1\" 200 1\n")
    };
    let text: String =
        [(0, "GET /one"), (0, "HEAD /many"), (1, "GET /none"), (2, "GET /gone"), (9, "GET /one")]
            .map(|(second, request)| line(second, request))
            .concat();
    let trace = Arc::new(AccessLog::default().parse(Path::new("log"), text.as_bytes()).unwrap());
    let replay = |options: &mut Options| {
        options.target = options.target.to_string().replace("/one", "/").parse().unwrap();
        options.load = Load::Timed(trace.times().scaled_time(0.05).unwrap());
        options.script = Script::Trace(Arc::clone(&trace));
        options.duration = Span::from_millis(200);
    };
    check("/one", replay, |agreed| {
        let mut asked: Vec<&str> = agreed.log.iter().map(|line| line.request.as_str()).collect();
        asked.sort_unstable();
        let lines = ["GET /gone HTTP/1.1", "GET /none HTTP/1.1", "GET /one HTTP/1.1", "HEAD /many HTTP/1.1"];
        assert_eq!(asked, lines);
        assert_eq!(agreed.summary.status.get(&404), Some(&1));
        assert_eq!(agreed.summary.bytes, agreed.log.iter().map(|line| line.body_bytes).sum::<u64>());
    });
}

#[test]
fn unix_sockets_and_ipv6() {
    let via = |options: &mut Options, nginx: &Nginx| {
        options.target = options.target.clone().via(Via::Unix(nginx.socket()));
    };
    for path in ["/one", "/many"] {
        check_nginx("keepalive_requests 50;", path, via, Agreed::all_responded);
    }
    let Ok(free) = std::net::TcpListener::bind("[::1]:0") else {
        testkit::skip_here(&"this machine has no IPv6");
        return;
    };
    let address = free.local_addr().unwrap();
    drop(free);
    let v6 = |options: &mut Options, _: &Nginx| {
        options.target = format!("http://{address}/one").parse().unwrap();
    };
    check_nginx(&format!("listen {address};"), "/", v6, Agreed::all_responded);
}
