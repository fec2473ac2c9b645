//! Other proxies for real: each in front of a server, and which requests it lets through when that is busy.

use std::sync::Mutex;
use std::thread;

use testbed::{Cpus, Mpm, Pinning};
use testkit::Raw;
use traffic::Workload;
use units::Span;

use super::*;
use crate::server::site::Site;
use crate::server::start::check;
use crate::spec::server::Kind;
use crate::spec::workload::Asked;

const SETTINGS: ContenderSettings = ContenderSettings {
    cookie: String::new(),
    value: String::new(),
    window: 1,
    patience: Span::from_secs(20),
    others: 2,
    newcomers: 1,
};

/// On another processor than the servers of other tests, which measure how much CPU time they get.
fn server() -> Server {
    let kind = Kind::Apache(Mpm::Prefork);
    Server {
        kind,
        workers: 20,
        backend_workers: None,
        backlog: 64,
        keep_alive: Span::from_secs(5),
        cpus: Cpus::one(1),
        front_cpus: None,
        directives: Vec::new(),
        descriptors: None,
        neighbour: Vec::new(),
    }
}

/// Starts Apache with a proxy in front of it, or says why it is not tested here.
fn with(kind: Contender, test: impl FnOnce(&mut Proxy, &Path)) {
    let text = "kind = 'sessions'\n[[page]]\nurl = '/bytes/2000'";
    let workload = Workload::parse(&config::Source::new("test", text)).unwrap();
    let (server, pinning) = (server(), Pinning::look(&Cpus::one(1), None, &Cpus::one(0)));
    let (none, asked) = (Path::new("none"), Asked::default());
    let testbed = Testbed::host(&pinning, &server.cpus, &server.cpus);
    let site = Site {
        server: &server,
        workload: &workload,
        asked: &asked,
        testbed: &testbed,
        headworks: none,
        variables: Vec::new(),
    };
    if let Err(error @ Error::Testbed(testbed::Error::Missing { .. })) =
        kind.check().and_then(|()| check(&server, none).map(|_| ()))
    {
        testkit::skip(&error);
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let running = site.start(&directory.path().join("server.log"), &Stop::default()).unwrap();
    let settings = ContenderSettings { cookie: "tier".to_owned(), value: "premium".to_owned(), ..SETTINGS };
    let place = Placement {
        settings: &settings,
        server: &server,
        upstream: &running.authority,
        testbed: &testbed,
        directory: directory.path(),
    };
    let mut proxy = Proxy::start(kind, &place, &Stop::default()).unwrap();
    test(&mut proxy, directory.path());
}

fn get(proxy: &Proxy, path: &str, cookies: &str) -> testkit::Response {
    ask(proxy, path, cookies).response()
}

/// Sends a request; the response is still to be read.
fn ask(proxy: &Proxy, path: &str, cookies: &str) -> Raw {
    let mut client = Raw::connect(proxy.authority.parse().unwrap());
    let cookies = if cookies.is_empty() { String::new() } else { format!("Cookie: {cookies}\r\n") };
    client.send(format!("GET {path} HTTP/1.1\r\nHost: test\r\n{cookies}\r\n"));
    client
}

/// How many of six slow requests at once, all with these cookies, are served.
fn served(proxy: &Proxy, cookies: &str) -> usize {
    thread::scope(|scope| {
        let requests: Vec<_> =
            (0..6).map(|_| scope.spawn(|| get(proxy, "/burn?cpu=50ms", cookies))).collect();
        let answers = requests.into_iter().map(|request| request.join().unwrap().status);
        answers
            .inspect(|status| assert!([200, 503].contains(status), "{status}"))
            .filter(|s| *s == 200)
            .count()
    })
}

/// All serve, say once that a session has begun, keep their configuration, and leave nothing behind.
fn serves(proxy: &mut Proxy, directory: &Path, kind: Contender) {
    let first = get(proxy, "/bytes/2000", "");
    assert_eq!((first.status, first.body.len()), (200, 2000));
    assert_eq!(first.header("set-cookie"), Some("ongoing=1; Path=/"));
    let next = get(proxy, "/bytes/2000", "tier=premium; ongoing=1");
    assert_eq!((next.status, next.header("set-cookie")), (200, None));
    let kept = fs::read_to_string(directory.join(kind.file())).unwrap();
    assert!(kept.starts_with("# ") && kept.lines().next().unwrap().contains('.'), "{kept}");
    assert!(proxy.has_died().is_none());
}

#[test]
fn haproxy_keeps_all_waiting_and_serves_premium_first() {
    with(Contender::Haproxy, |proxy, directory| {
        serves(proxy, directory, Contender::Haproxy);
        // The first one takes the only place for long; while it does, the others come and wait.
        let waiting = [
            ("first", "", "400ms"),
            ("new", "", "100ms"),
            ("new", "", "100ms"),
            ("ongoing", "ongoing=1", "100ms"),
            ("premium", "tier=premium", "100ms"),
        ];
        let waiting =
            waiting.map(|(name, cookies, cpu)| (name, ask(proxy, &format!("/burn?cpu={cpu}"), cookies)));
        let order = Mutex::new(Vec::new());
        thread::scope(|scope| {
            for (name, mut client) in waiting {
                let order = &order;
                scope.spawn(move || {
                    assert_eq!(client.response().status, 200);
                    order.lock().unwrap().push(name);
                });
            }
        });
        assert_eq!(order.into_inner().unwrap(), ["first", "premium", "ongoing", "new", "new"]);
    });
}

fn refuses_others(kind: Contender) {
    with(kind, |proxy, directory| {
        serves(proxy, directory, kind);
        assert_eq!(served(proxy, "tier=premium"), 6);
        let (ongoing, new) = (served(proxy, "ongoing=1"), served(proxy, "tier=basic"));
        assert!((1..6).contains(&ongoing), "{ongoing}");
        assert!((1..6).contains(&new), "{new}");
        let text = fs::read_to_string(directory.join(kind.file())).unwrap();
        assert!(!text.contains('@'), "something was left out: {text}");
    });
}

#[test]
fn nginx_refuses_others_beyond_its_limits() {
    refuses_others(Contender::Nginx);
}

#[test]
fn mod_qos_refuses_others_beyond_its_limits() {
    refuses_others(Contender::ModQos);
}
