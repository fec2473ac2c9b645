//! The servers for real: they start, serve what the workload asks for, and leave nothing behind.

use std::time::Instant;

use testbed::{Cpus, Mpm, Pinning, Testbed};
use testkit::{PATIENCE, Raw, poll_until};
use traffic::Workload;
use units::Span;

use super::*;
use crate::spec::workload::Asked;

fn workload() -> Workload {
    let text =
        "kind = 'sessions'\n[[page]]\nurl = '/bytes/2000?first'\nembedded = ['/bytes/0', '/bytes/70000']";
    Workload::parse(&config::Source::new("test", text)).unwrap()
}

fn server(kind: Kind) -> Server {
    Server {
        kind,
        workers: 3,
        backend_workers: None,
        backlog: 16,
        keep_alive: Span::from_secs(5),
        cpus: Cpus::one(0),
        front_cpus: None,
        directives: Vec::new(),
        descriptors: None,
        neighbour: Vec::new(),
    }
}

/// Starts a server of this kind, or says why it is not tested here.
fn with(kind: Kind, test: impl FnOnce(&mut Running, &Path)) {
    let server = server(kind);
    let (workload, pinning) = (workload(), Pinning::look(&Cpus::one(0), None, &Cpus::one(1)));
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
    if let Err(error @ Error::Testbed(testbed::Error::Missing { .. })) = check(&server, none) {
        testkit::skip(&error);
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("server.log");
    let mut running = site.start(&log, &Stop::default()).unwrap();
    test(&mut running, &log);
}

fn serves_and_leaves_nothing(kind: Kind, parameters: &str) {
    with(kind, |running, log| {
        let address = running.authority.parse().unwrap();
        let mut client = Raw::connect(address);
        for length in [2000, 0, 70000] {
            let response = client.get(&format!("/bytes/{length}")).response();
            assert_eq!((response.status, response.body.len()), (200, length));
        }
        drop(client);
        // The default keep-alive of both would chunk a page of unknown length; 1.0 does not.
        let burn = |page: &str| http::get(&running.authority, page).map(|answer| answer.status);
        let started = Instant::now();
        assert_eq!(burn("/burn?cpu=100ms"), Some(200));
        assert!(started.elapsed().as_millis() >= 100, "the CPU time asked for was burnt");
        assert_eq!(burn("/burn?cpu=1us&x=2"), Some(200));
        for wrong in ["/burn", "/burn?cpu=", "/burn?cpu=1d", "/burn?cpu=1.2.3ms"] {
            assert_eq!(burn(wrong), Some(400), "{wrong}");
        }
        assert!(running.environment.version.contains('/'), "{}", running.environment.version);
        let configuration: String = running.environment.configuration.values().cloned().collect();
        assert!(configuration.contains(parameters), "{configuration}");
        assert!(running.has_died().is_none());
        let said = fs::read_to_string(log).unwrap();
        // A busy machine makes Apache say that all of its workers are.
        let mut faults = said.lines().filter(|line| !line.contains("reached MaxRequestWorkers"));
        assert!(!faults.any(|line| line.contains("error") || line.contains("emerg")), "{said}");

        let server = running.server.take().unwrap();
        let (root, pid) = (server.root().unwrap().to_owned(), server.id());
        drop(server);
        assert!(!root.exists());
        poll_until(PATIENCE, "the last of its processes to end", || members_of(pid).is_empty().then_some(()));
        poll_until(PATIENCE, "the port to be closed", || {
            TcpStream::connect(&*running.authority).is_err().then_some(())
        });
    });
}

/// Processes of the group that `leader` led.
fn members_of(leader: u32) -> Vec<String> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let stats = processes.filter_map(|entry| fs::read_to_string(entry.path().join("stat")).ok());
    stats
        .filter(|stat| {
            // After the name in brackets: state, parent, group (proc_pid_stat(5)).
            let mut fields = stat.rsplit(") ").next().unwrap_or_default().split(' ');
            fields.next() != Some("Z") && fields.nth(1) == Some(&leader.to_string())
        })
        .collect()
}

#[test]
fn apache_serves_and_leaves_nothing() {
    serves_and_leaves_nothing(Kind::Apache(Mpm::Prefork), "MaxRequestWorkers 3\n");
}

#[test]
fn node_serves_and_leaves_nothing() {
    serves_and_leaves_nothing(Kind::Node, "createServer");
}

#[test]
fn nginx_serves_and_leaves_nothing() {
    serves_and_leaves_nothing(Kind::Nginx, "worker_processes 3;\n");
}

#[test]
fn a_server_that_dies_is_noticed() {
    with(Kind::Nginx, |running, _| {
        let pid = running.server.as_ref().unwrap().id();
        let pid = rustix::process::Pid::from_raw(pid.cast_signed()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
        let error = poll_until(PATIENCE, "the death to be noticed", || running.has_died());
        assert!(error.to_string().starts_with("nginx died during the test (signal: 9"), "{error}");
    });
}

#[test]
fn a_server_that_is_not_there_is_named() {
    let address = testkit::free_address();
    let server = server(Kind::Url(format!("http://{address}")));
    let error = check(&server, Path::new("none")).unwrap_err().to_string();
    let expected = format!(
        "server does not answer at http://{address}; start it, or let the lab start one (server.kind = \"origin\")"
    );
    assert_eq!(error, expected);
}
