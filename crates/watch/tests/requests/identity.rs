//! Those are watched who are meant, whatever they are called and wherever else there is such a port.

use std::net::SocketAddr;
use std::process::{Command, Stdio};
use std::time::Duration;

use testkit::{Process, Raw, free_address, poll_until};
use units::Span;
use watch::requests::{Budget, Classes};
use watch::{Addresses, Groups, Options, Origin, Watch, WatchOutcome, Whose};

use crate::is_able;

/// Answers after some work, in a child of its own for each request where that is asked for.
const SERVER: &str = "
import http.server, sys, subprocess
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == '/child':
            subprocess.run(['sh', '-c', 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done'])
        else:
            sum(range(300000))
        self.send_response(200)
        self.send_header('Content-Length', '2')
        self.end_headers()
        self.wfile.write(b'ok')
    def log_message(self, *_): pass
http.server.ThreadingHTTPServer(('127.0.0.1', int(sys.argv[1])), Handler).serve_forever()
";

fn server(at: SocketAddr, within: &[&str]) -> Process {
    let port = at.port().to_string();
    let words = [within, &["python3", "-c", SERVER, &port]].concat();
    Process::listening(Command::new(words[0]).args(&words[1..]).stderr(Stdio::null()), at)
}

fn watched(ports: Vec<u16>, whose: Whose, meanwhile: impl FnOnce()) -> WatchOutcome {
    let options = Options {
        programs: Vec::new(),
        at: Addresses { ports, ..Addresses::default() },
        groups: Groups::every(Span::from_millis(100)),
        classes: Classes::default(),
        budget: Budget::default(),
        counts_all: false,
        seed: 1,
        keep: None,
        whose,
    };
    let mut watch = Watch::begin(options, None).unwrap();
    watch.turn().unwrap();
    watch.look(true).unwrap();
    meanwhile();
    watch.look(true).unwrap();
    watch.end(false).unwrap()
}

fn ask(address: SocketAddr, path: &str, times: usize) {
    let mut client = Raw::connect(address);
    for _ in 0..times {
        client.get(path).response();
        client = Raw::connect(address);
    }
}

fn requests(outcome: &WatchOutcome) -> u64 {
    outcome.seen.requests.values().map(|rates| rates.count).sum()
}

#[test]
fn of_two_servers_of_one_name_the_one_at_the_port_is_watched() {
    if !is_able() {
        return;
    }
    let addresses = [free_address(), free_address()];
    let servers = addresses.map(|address| server(address, &[]));
    let busy = |at: usize| move || ask(addresses[at], "/", 30);
    let cpu = |outcome: &WatchOutcome| outcome.seen.processes["python3"].cpu;
    let port = |at: usize| vec![addresses[at].port()];
    let own = watched(port(0), Whose::Named, busy(0));
    let other = watched(port(0), Whose::Named, busy(1));
    assert!(cpu(&own) > 0.1 && cpu(&other) < 0.05, "{} {}", cpu(&own), cpu(&other));
    assert_eq!((requests(&own), requests(&other)), (30, 0));
    assert_eq!(own.seen.processes["python3"].processes, 1);

    // By their numbers, with the ports that they listen at, and with what they have started.
    let whose = |at: usize| Whose::Of(vec![Origin::process(servers[at].id()).unwrap()]);
    let children = watched(Vec::new(), whose(1), || ask(addresses[1], "/child", 20));
    assert_eq!(requests(&children), 20);
    assert!(cpu(&children) > 0.1, "children count: {}", cpu(&children));
    let idle = watched(Vec::new(), whose(0), || ask(addresses[1], "/child", 20));
    assert!(cpu(&idle) < 0.05 && requests(&idle) == 0, "{}", cpu(&idle));
}

/// A network namespace with its loopback interface up, which ends with the process in it.
#[test]
fn a_port_is_meant_in_one_network_namespace() {
    if !is_able() {
        return;
    }
    let address = free_address();
    let _near = server(address, &[]);
    let script = "ip link set lo up && exec \"$@\"";
    let far = server(address, &["unshare", "--net", "sh", "-c", script, "sh"]);
    let far_process = far.id();
    let answers = || {
        let mut nsenter = Command::new("nsenter");
        nsenter.args(["--net", "--target", &far_process.to_string(), "curl", "-s", "-o", "/dev/null"]);
        nsenter.arg(format!("http://{address}/")).status().unwrap().success().then_some(())
    };
    poll_until(testkit::PATIENCE, "the server in a namespace", answers);
    std::thread::sleep(Duration::from_millis(100));

    let near = watched(vec![address.port()], Whose::Named, || {
        ask(address, "/", 7);
        answers().unwrap();
        answers().unwrap();
    });
    // That each is counted is tested elsewhere; here none of the others is.
    assert!((1..=7).contains(&requests(&near)), "{:?}", near.seen);
    let far = watched(Vec::new(), Whose::Of(vec![Origin::process(far_process).unwrap()]), || {
        ask(address, "/", 7);
        answers().unwrap();
        answers().unwrap();
    });
    assert!((1..=2).contains(&requests(&far)), "{:?}", far.seen);
    assert_eq!(far.seen.listen_queues.keys().copied().collect::<Vec<_>>(), [address.port()]);
    assert_eq!(far.seen.connections.get("LISTEN"), Some(&1), "{:?}", far.seen.connections);
    assert_eq!(far.seen.network.keys().collect::<Vec<_>>(), ["lo"]);
}

#[test]
fn a_control_group_is_watched_as_a_whole() {
    if !is_able() {
        return;
    }
    let name = format!("headworks-test-{}", std::process::id());
    // With one hierarchy, and with several.
    let places = ["", "unified", "systemd", "pids"]
        .map(|hierarchy| std::path::Path::new("/sys/fs/cgroup").join(hierarchy).join(&name));
    let made = places.into_iter().find(|group| {
        let is_one = std::fs::create_dir(group).is_ok() && group.join("cgroup.procs").exists();
        if !is_one {
            let _ = std::fs::remove_dir(group);
        }
        is_one
    });
    let Some(group) = made else {
        testkit::skip(&"control groups cannot be made here");
        return;
    };
    let address = free_address();
    {
        let server = server(address, &[]);
        std::fs::write(group.join("cgroup.procs"), server.id().to_string()).unwrap();
        let by_path = Origin::control_group(group.to_str().unwrap()).unwrap();
        assert_eq!(Origin::control_group(&format!("/{name}")).unwrap(), by_path);
        let whose = Whose::Of(vec![by_path]);
        assert!(Origin::unit(&name).is_err(), "it is not called {name}.service");
        let outcome = watched(Vec::new(), whose, || ask(address, "/", 10));
        assert_eq!(requests(&outcome), 10);
        assert!(outcome.seen.processes["python3"].cpu > 0.05, "{:?}", outcome.seen.processes);
    }
    poll_until(testkit::PATIENCE, "the group to be empty", || std::fs::remove_dir(&group).ok());
}
