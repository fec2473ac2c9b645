//! Counts agree to the request with the access logs of nginx and Apache, in every mode, failures
//! included, over both ways to the kernel.

mod common;

use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use common::agree::{Agreed, BACKENDS, Server, agree, clients, clients_thinking, documents};
use common::open;
use load::{Http, Load, Options, Protocol, Request, Script, Think, Via};
use record::{RequestError, RequestRow};
use rustix::process::{Pid, Signal, kill_process};
use testkit::{Apache, Hostile, Nginx, Processing, free_address};
use traffic::model::{Model, ModelName, content};
use traffic::trace::AccessLog;
use traffic::{Process, Workload};
use units::{Rate, Span};

/// Two clients that begin and end in the window.
fn options(server: &Server, path: &str) -> Options {
    options_of(server.url(), path)
}

fn options_of(url: &str, path: &str) -> Options {
    let placeholder = "127.0.0.1:1".parse().unwrap();
    Options {
        target: format!("{url}{path}").parse().unwrap(),
        load: clients(2),
        duration: Span::from_millis(200),
        ..common::options(placeholder)
    }
}

/// A run of each backend against each server, over the documents.
#[track_caller]
fn check(path: &str, change: impl Fn(&mut Options) + Sync, verify: impl Fn(&Agreed) + Sync) {
    let documents = documents();
    let nginx = || Nginx::start(documents.path(), "keepalive_requests 100000;").map(Server::Nginx);
    let apache = || Apache::start(Processing::Event, documents.path(), "").map(Server::Apache);
    // At once: Apache takes a second to stop.
    std::thread::scope(|runs| {
        for backend in BACKENDS {
            for server in [nginx(), apache()].into_iter().flatten() {
                let mut options = Options { backend, ..options(&server, path) };
                change(&mut options);
                let verify = &verify;
                runs.spawn(move || verify(&agree(server, options)));
            }
        }
    });
}

/// The same against an nginx that is set up so.
#[track_caller]
fn check_nginx(extra: &str, path: &str, change: impl Fn(&mut Options, &Nginx), verify: impl Fn(&Agreed)) {
    let documents = documents();
    for backend in BACKENDS {
        let Some(nginx) = Nginx::start(documents.path(), extra) else { return };
        let mut options = Options { backend, ..options_of(nginx.url(), path) };
        change(&mut options, &nginx);
        verify(&agree(Server::Nginx(nginx), options));
    }
}

fn versions(agreed: &Agreed, method: &str, version: &str) {
    for line in &agreed.log {
        assert!(line.request.starts_with(method) && line.request.ends_with(version), "{}", line.request);
    }
}

fn per_connection(most: u32) -> Protocol {
    Protocol { requests_per_connection: NonZeroU32::new(most), ..Protocol::default() }
}

fn pipeline(depth: u32) -> Protocol {
    Protocol { pipeline: NonZeroU32::new(depth), ..Protocol::default() }
}

#[test]
fn connections_that_are_kept() {
    check(
        "/one",
        |_| (),
        |agreed| {
            agreed.all_responded();
            versions(agreed, "GET ", " HTTP/1.1");
            assert_eq!(agreed.summary.connections.opened, 2);
        },
    );
}

#[test]
fn connections_for_one_request_or_a_few() {
    for most in [1, 2, 8] {
        check(
            "/one",
            |options| options.protocol = per_connection(most),
            |agreed| {
                agreed.all_responded();
                assert_eq!(agreed.most_per_connection(), u64::from(most));
                let least = agreed.summary.requests.div_ceil(u64::from(most));
                assert!((least..=least + 1).contains(&agreed.summary.connections.opened));
            },
        );
    }
}

#[test]
fn pipelines() {
    check(
        "/one",
        |options| options.protocol = pipeline(4),
        |agreed| {
            agreed.all_responded();
            assert_eq!(agreed.summary.connections.opened, 2);
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
    for most in [1, u32::MAX] {
        let change = |options: &mut Options| {
            options.protocol = Protocol { http: Http::Http10, ..per_connection(most) };
        };
        check("/one", change, |agreed| {
            agreed.all_responded();
            versions(agreed, "GET ", " HTTP/1.0");
            assert_eq!(agreed.most_per_connection() > 1, most > 1);
        });
    }
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
    let Some(apache) = Apache::start(Processing::Prefork, documents.path(), "") else { return };
    let server = Server::Apache(apache);
    let request = Request { body: Some(vec![b'y'; 3000].into()), ..Request::default() };
    let posts = Options { request, ..options(&server, "/one") };
    let agreed = agree(server, posts);
    agreed.all_responded();
    assert!(agreed.log.iter().all(|line| line.request_bytes > 3000), "{:?}", agreed.log.first());
}

#[test]
fn open_loops() {
    for process in [Process::Constant, Process::Poisson] {
        let ramp = |options: &mut Options| {
            let rate = Rate::per_second(500.0).unwrap();
            options.load = Load::Open { rate, ramp: "500:0:500:100ms".parse().ok(), process };
        };
        check("/one", ramp, |agreed| {
            agreed.all_responded();
            assert!((20..100).contains(&agreed.summary.requests), "{}", agreed.summary.requests);
        });
    }
}

#[test]
fn what_the_end_of_the_run_cuts_off() {
    let cut = |options: &mut Options| options.load = open(2000.0, Process::Poisson);
    check("/one", cut, |agreed| assert_eq!(agreed.summary.errors.total(), 0));
    check(
        "/one",
        |options| options.load = common::closed(8),
        |agreed| {
            assert!(agreed.summary.requests > 8);
        },
    );
    let warm = |options: &mut Options| {
        options.load = common::closed(3);
        options.warmup = Span::from_millis(100);
    };
    check("/many", warm, |agreed| {
        assert!((agreed.summary.requests as usize) < agreed.rows.len());
    });
}

#[test]
fn several_threads_and_clients_that_think() {
    check(
        "/one",
        |options| options.threads = NonZeroU32::new(2).unwrap(),
        |agreed| {
            agreed.all_responded();
            assert_eq!(agreed.summary.connections.opened, 2);
        },
    );
    let think = Think { mean: Span::from_millis(5), exponential: true };
    check(
        "/one",
        |options| options.load = clients_thinking(4, think),
        |agreed| {
            agreed.all_responded();
        },
    );
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
        options.script = Script::Sessions { workload, text: SHOP.to_owned() };
        options.target = options.target.to_string().replace("/any", "/").parse().unwrap();
        let rate = Rate::per_second(100.0).unwrap();
        options.load = Load::Open { rate, ramp: "100:0:100:100ms".parse().ok(), process: Process::Constant };
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

/// What a client needs to trust the server.
fn encrypted(options: &mut Options, nginx: &Nginx, protocol: Protocol) {
    options.target = format!("{}/one", nginx.tls_url()).parse().unwrap();
    options.protocol = Protocol { authorities: Some(nginx.certificate_file()), ..protocol };
}

#[test]
fn https() {
    const LONG: &str = "keepalive_requests 100000;";
    for (protocol, most) in [(Protocol::default(), 100_000), (per_connection(3), 3), (pipeline(4), 100_000)] {
        let change = |options: &mut Options, nginx: &Nginx| encrypted(options, nginx, protocol.clone());
        check_nginx(LONG, "/", change, |agreed| {
            agreed.all_responded();
            assert!(agreed.most_per_connection() <= most);
            let tls = agreed.rows.iter().filter(|row| !row.tls_ns.is_zero()).count() as u64;
            assert_eq!(tls, agreed.summary.connections.opened, "each connection has a handshake");
        });
    }
    let change = |options: &mut Options, nginx: &Nginx| {
        encrypted(options, nginx, Protocol::default());
        options.protocol.authorities = None;
        options.protocol.insecure = true;
        options.request.body = Some(vec![b'y'; 100_000].into());
    };
    check_nginx("location /one { return 200 taken; }", "/", change, Agreed::all_responded);
}

#[test]
fn http_2_over_tls() {
    let h2 = |streams| Protocol { http: Http::Http2, ..pipeline(streams) };
    for streams in [1, 8] {
        let change = |options: &mut Options, nginx: &Nginx| encrypted(options, nginx, h2(streams));
        check_nginx("keepalive_requests 100000;", "/", change, |agreed| {
            agreed.all_responded();
            versions(agreed, "GET ", " HTTP/2.0");
            assert_eq!(agreed.summary.connections.opened, 2);
        });
    }
}

#[test]
fn http_2_in_the_clear() {
    let address = free_address();
    let extra = format!("listen {address} http2; location /take {{ return 200 taken; }}");
    for (most, path) in [(u32::MAX, "/many"), (10, "/take")] {
        let change = |options: &mut Options, _: &Nginx| {
            options.target = format!("http://{address}{path}").parse().unwrap();
            options.protocol =
                Protocol { http: Http::Http2, requests_per_connection: NonZeroU32::new(most), ..pipeline(5) };
            options.request.body = (path == "/take").then(|| vec![b'y'; 100_000].into());
        };
        check_nginx(&extra, "/", change, |agreed| {
            agreed.all_responded();
            assert!(agreed.most_per_connection() <= u64::from(most));
        });
    }
}

#[test]
fn http_2_on_connections_that_the_server_ends() {
    let address = free_address();
    let extra = format!("listen {address} http2; keepalive_requests 20;");
    let change = |options: &mut Options, _: &Nginx| {
        options.target = format!("http://{address}/one").parse().unwrap();
        options.protocol = Protocol { http: Http::Http2, ..pipeline(5) };
    };
    check_nginx(&extra, "/", change, |agreed| {
        agreed.all_responded();
        assert!(agreed.summary.connections.opened > 2);
    });
}

#[test]
fn unix_sockets_and_ipv6() {
    let via = |options: &mut Options, nginx: &Nginx| {
        options.target = options.target.clone().via(Via::Unix(nginx.socket()));
    };
    check_nginx("keepalive_requests 50;", "/one", via, Agreed::all_responded);
    let Ok(free) = std::net::TcpListener::bind("[::1]:0") else {
        eprintln!("skipped: this machine has no IPv6");
        return;
    };
    let address = free.local_addr().unwrap();
    drop(free);
    let v6 = |options: &mut Options, _: &Nginx| {
        options.target = format!("http://{address}/one").parse().unwrap();
    };
    check_nginx(&format!("listen {address};"), "/", v6, Agreed::all_responded);
}

#[test]
fn statuses_of_failures() {
    for (status, body) in [(404, "none"), (500, "broken"), (503, "busy"), (301, "/elsewhere"), (204, "")] {
        let extra = format!("location /it {{ return {status} {body}; }}");
        check_nginx(
            &extra,
            "/it",
            |_, _| (),
            |agreed| {
                agreed.all_responded();
                assert_eq!(agreed.summary.status.get(&status), Some(&agreed.summary.requests));
            },
        );
    }
}

fn failed(agreed: &Agreed, error: RequestError) -> impl Iterator<Item = &RequestRow> {
    agreed.rows.iter().filter(move |row| row.error == Some(error))
}

#[test]
fn requests_that_meet_their_timeout() {
    // The first KiB comes at once, the second a second later.
    let extra = "location /many { limit_rate 1k; }";
    let impatient = |options: &mut Options, _: &Nginx| options.timeout = Some(Span::from_millis(30));
    check_nginx(extra, "/many", impatient, |agreed| {
        assert!(agreed.summary.requests > 2);
        assert_eq!(agreed.summary.errors.timeout, agreed.summary.requests);
        assert!(failed(agreed, RequestError::Timeout).all(|row| row.status == Some(200)));
        assert_eq!(agreed.log.len(), agreed.rows.len());
    });
    let stalled = Hostile::start(|stream, _| {
        let _ = std::io::copy(&mut &*stream, &mut std::io::sink());
    });
    let extra = format!("location /stall {{ proxy_pass http://{}; }}", stalled.address());
    check_nginx(&extra, "/stall", impatient, |agreed| {
        assert!(failed(agreed, RequestError::Timeout).all(|row| row.status.is_none()));
        assert!(agreed.log.iter().all(|line| line.status == 499), "the client went away");
        assert_eq!(agreed.log.len() as u64, agreed.summary.errors.timeout);
    });
}

#[test]
fn a_drain_that_is_cut_short() {
    let extra = "location /many { limit_rate 1k; }";
    let change = |options: &mut Options, _: &Nginx| {
        options.drain = Some(Span::ZERO);
        options.load = common::closed(5);
    };
    check_nginx(extra, "/many", change, |agreed| {
        assert_eq!(agreed.summary.censored, 5);
        assert_eq!(agreed.summary.errors.total(), 0);
        assert_eq!(failed(agreed, RequestError::Censored).count(), agreed.log.len());
    });
}

#[test]
fn bodies_that_break_off() {
    let broken = Hostile::start(|mut stream, _| {
        use std::io::{Read, Write};
        let _ = stream.read(&mut [0; 1024]);
        let _ = stream.write_all(b"HTTP/1.0 200 OK\r\nContent-Length: 9000\r\n\r\n");
        let _ = stream.write_all(&[b'x'; 5000]);
    });
    let extra = format!("location /broken {{ proxy_pass http://{}; }}", broken.address());
    check_nginx(
        &extra,
        "/broken",
        |_, _| (),
        |agreed| {
            assert!(agreed.summary.requests > 2);
            assert_eq!(agreed.summary.errors.body, agreed.summary.requests, "{:?}", agreed.summary.errors);
            let sent: u64 = agreed.log.iter().map(|line| line.body_bytes).sum();
            assert_eq!(agreed.summary.bytes, sent, "what came before is counted");
        },
    );
}

#[test]
fn a_server_that_takes_up_a_new_configuration() {
    let documents = documents();
    for backend in BACKENDS {
        let Some(nginx) = Nginx::start(documents.path(), "keepalive_requests 100000;") else { return };
        let master = Pid::from_raw(nginx.pid().cast_signed()).unwrap();
        let server = Server::Nginx(nginx);
        let options = Options { backend, load: clients(4), ..options(&server, "/one") };
        let reload = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(50));
            kill_process(master, Signal::HUP).unwrap();
        });
        let agreed = agree(server, options);
        reload.join().unwrap();
        agreed.all_responded();
    }
}
