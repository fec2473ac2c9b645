//! Runs against real servers, and their access logs beside the record.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use load::{Backend, Load, Options, Protocol};
use record::{RequestError, RequestRow, RunDirectory, Summary};
use tempfile::TempDir;
use testkit::{Apache, LogLine, Mpm, Nginx};
use traffic::Think;
use units::Span;

/// A real server.
pub(crate) enum Server {
    Nginx(Nginx),
    Apache(Apache),
}

impl Server {
    pub(crate) fn url(&self) -> &str {
        match self {
            Self::Nginx(nginx) => nginx.url(),
            Self::Apache(apache) => apache.url(),
        }
    }

    fn stop(self) -> Vec<LogLine> {
        match self {
            Self::Nginx(nginx) => nginx.stop(),
            Self::Apache(apache) => apache.stop(),
        }
    }
}

/// Both ways to the kernel.
pub(crate) const BACKENDS: [Backend; 2] = [Backend::Auto, Backend::Epoll];

/// What a run and the server's log agree on.
pub(crate) struct Agreed {
    pub(crate) summary: Summary,
    pub(crate) rows: Vec<RequestRow>,
    pub(crate) log: Vec<LogLine>,
    /// Apache ends kept connections that are silent, when for a moment it has no thread to spare: on a busy
    /// machine already while its threads are started.
    may_close_early: bool,
}

impl Agreed {
    /// The requests of the connection that had most, as the log has it.
    pub(crate) fn most_per_connection(&self) -> u64 {
        let sent = self.rows.iter().filter(|row| row.processing_ns.is_some());
        let connections: BTreeSet<_> = sent.map(|row| row.connection).collect();
        requests_of(connections.len(), &self.log).into_iter().max().unwrap_or(0)
    }

    /// As many connections were opened as are needed. That the server saw as many as the record has is
    /// [`agree`]'s concern.
    #[track_caller]
    pub(crate) fn opened(&self, needed: RangeInclusive<u64>) {
        let opened = self.summary.connections.opened;
        let early = self.may_close_early && opened > *needed.end();
        assert!(early || needed.contains(&opened), "{opened} connections opened, {needed:?} are needed");
    }

    #[track_caller]
    pub(crate) fn all_responded(&self) {
        let summary = &self.summary;
        assert!(summary.requests > 5, "{} requests", summary.requests);
        assert_eq!(summary.responses, summary.requests, "{:?}", summary.errors);
        assert_eq!(self.rows.len() as u64, summary.requests, "clients stop when they are told to");
    }
}

/// Documents: `/one` of 1 KiB, `/many` of 100 KiB, and an empty one.
pub(crate) fn documents() -> TempDir {
    let root = tempfile::tempdir().unwrap();
    open_to_all(root.path());
    for (name, length) in [("none", 0), ("one", 1024), ("many", 100 * 1024)] {
        std::fs::write(root.path().join(name), vec![b'x'; length]).unwrap();
    }
    root
}

fn open_to_all(directory: &Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(directory, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// Clients of a closed loop that stop before the window ends, so that nothing is cut off. They have
/// time enough for a machine that stands still for a tenth of a second or two.
pub(crate) fn clients(number: u32) -> Load {
    clients_thinking(number, None)
}

pub(crate) fn clients_thinking(number: u32, think: Option<Think>) -> Load {
    let ramp = format!("{number}:0:{number}:400ms").parse().unwrap();
    Load::Closed { clients: number, ramp: Some(ramp), think }
}

/// Two clients that begin and end in the window.
pub(crate) fn options(server: &Server, path: &str) -> Options {
    options_of(server.url(), path)
}

pub(crate) fn options_of(url: &str, path: &str) -> Options {
    let placeholder = "127.0.0.1:1".parse().unwrap();
    Options {
        target: format!("{url}{path}").parse().unwrap(),
        load: clients(2),
        duration: Span::from_millis(500),
        ..super::options(placeholder)
    }
}

/// A run of each backend against each server, over the documents.
#[track_caller]
pub(crate) fn check(path: &str, change: impl Fn(&mut Options) + Sync, verify: impl Fn(&Agreed) + Sync) {
    let documents = documents();
    let nginx = || Nginx::start(documents.path(), "keepalive_requests 100000;").map(Server::Nginx);
    let apache = || Apache::start(Mpm::Event, documents.path(), "").map(Server::Apache);
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

/// The cases of a test, at once: most of their time is spent waiting for Apache to stop.
pub(crate) fn at_once<T: Send>(cases: impl IntoIterator<Item = T>, test: impl Fn(T) + Sync) {
    let test = &test;
    std::thread::scope(|threads| {
        for case in cases {
            threads.spawn(move || test(case));
        }
    });
}

/// The same against an nginx that is set up so.
#[track_caller]
pub(crate) fn check_nginx(
    extra: &str,
    path: &str,
    change: impl Fn(&mut Options, &Nginx),
    verify: impl Fn(&Agreed),
) {
    let documents = documents();
    for backend in BACKENDS {
        let Some(nginx) = Nginx::start(documents.path(), extra) else { return };
        let mut options = Options { backend, ..options_of(nginx.url(), path) };
        change(&mut options, &nginx);
        verify(&agree(Server::Nginx(nginx), options));
    }
}

pub(crate) fn versions(agreed: &Agreed, method: &str, version: &str) {
    for line in &agreed.log {
        assert!(line.request.starts_with(method) && line.request.ends_with(version), "{}", line.request);
    }
}

pub(crate) fn per_connection(most: u32) -> Protocol {
    Protocol { requests_per_connection: NonZeroU32::new(most), ..Protocol::default() }
}

pub(crate) fn pipeline(depth: u32) -> Protocol {
    Protocol { pipeline: NonZeroU32::new(depth), ..Protocol::default() }
}

/// Waits until fewer than four runs are under way: of twenty at once, each half a second long, one may find no
/// processor all the while.
fn turn() -> MutexGuard<'static, ()> {
    static TURNS: [Mutex<()>; 4] = [const { Mutex::new(()) }; 4];
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let next = NEXT.fetch_add(1, Relaxed) % TURNS.len();
    TURNS[next].lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs against `server`, stops it, and compares what both say.
#[track_caller]
pub(crate) fn agree(server: Server, options: Options) -> Agreed {
    let scratch = tempfile::tempdir().unwrap();
    let out = scratch.path().join("run");
    let turn = turn();
    let summary = super::run(&Options { out: Some(out.clone()), ..options.clone() }).summary;
    drop(turn);
    let may_close_early = matches!(server, Server::Apache(_));
    let log = server.stop();
    let record = RunDirectory::open(&out).unwrap();
    let window = record.info().unwrap().window;
    let rows: Vec<RequestRow> = record.requests().unwrap().map(Result::unwrap).collect();
    let backend = options.backend;
    same_requests(&rows, &log, &format!("{backend}"));
    same_connections(&rows, &log);
    let inside = rows.iter().filter(|row| window.contains(row.intended));
    same_summary(&summary, &inside.collect::<Vec<_>>());
    Agreed { summary, rows, log, may_close_early }
}

/// Every request that the generator says it sent is in the log, once; one that the end of the run
/// cut off may be.
#[track_caller]
fn same_requests(rows: &[RequestRow], log: &[LogLine], context: &str) {
    let sent = || rows.iter().filter(|row| row.processing_ns.is_some());
    let cut = sent().filter(|row| row.error == Some(RequestError::Censored)).count();
    let (least, most) = (sent().count() - cut, sent().count());
    let errors: Vec<_> = rows.iter().filter_map(|row| row.error).collect();
    assert!(
        (least..=most).contains(&log.len()),
        "{context}: {least} to {most} requests sent, {} logged; errors {:?}",
        log.len(),
        &errors[..errors.len().min(20)]
    );
    let failed = sent().filter(|row| row.error.is_some()).count() as u64;
    let responded = || rows.iter().filter(|row| row.error.is_none());
    let statuses = count(responded().map(|row| row.status.unwrap()));
    between(&statuses, &count(log.iter().map(|line| line.status)), failed, context);
    let urls = count(responded().map(|row| row.url_class.to_string()));
    let asked = |line: &LogLine| line.request.split(' ').nth(1).unwrap_or_default().to_owned();
    between(&urls, &count(log.iter().map(asked)), failed, context);
    let (received, written): (u64, u64) =
        (rows.iter().map(|row| row.bytes).sum(), log.iter().map(|line| line.body_bytes).sum());
    if log.iter().any(|line| line.request.ends_with("HTTP/2.0")) {
        // nginx counts the heads of DATA frames along, 9 bytes each (RFC 9113, section 4.1).
        assert!(received <= written && (failed > 0 || (written - received).is_multiple_of(9)), "{context}");
    } else if failed == 0 {
        assert_eq!(received, written, "{context}: bytes of bodies");
    } else {
        assert!(received <= written, "{context}: {received} bytes received, {written} sent");
    }
}

/// Whether each count of `logged` is that of `seen`, or up to `spare` more.
#[track_caller]
fn between<K: Ord + std::fmt::Debug>(
    seen: &BTreeMap<K, u64>,
    logged: &BTreeMap<K, u64>,
    spare: u64,
    context: &str,
) {
    let get = |map: &BTreeMap<K, u64>, key: &K| map.get(key).copied().unwrap_or(0);
    for key in seen.keys().chain(logged.keys()) {
        let (seen, logged) = (get(seen, key), get(logged, key));
        assert!((seen..=seen + spare).contains(&logged), "{context}: {key:?}: {seen} seen, {logged} logged");
    }
}

fn count<K: Ord>(keys: impl Iterator<Item = K>) -> BTreeMap<K, u64> {
    let mut counts = BTreeMap::new();
    keys.for_each(|key| *counts.entry(key).or_default() += 1);
    counts
}

/// How many requests each connection of the log has.
fn requests_of_connections(log: &[LogLine]) -> Vec<u64> {
    count(log.iter().map(|line| line.connection)).into_values().collect()
}

/// Of so many `connections` at most. Apache knows connections by their ports, and where it closes first a port may
/// come again at once: what looks like several requests, each the first on its connection, were as many connections.
fn requests_of(connections: usize, log: &[LogLine]) -> Vec<u64> {
    let mut missing = connections.saturating_sub(requests_of_connections(log).len()) as u64;
    let firsts = count(log.iter().filter(|line| line.connection_requests == 1).map(|line| line.connection));
    let all = count(log.iter().map(|line| line.connection));
    let of_port = |(port, requests): (u64, u64)| {
        let again = if firsts.get(&port) == Some(&requests) { missing.min(requests - 1) } else { 0 };
        missing -= again;
        std::iter::repeat_n(1, again as usize).chain([requests - again])
    };
    all.into_iter().flat_map(of_port).collect()
}

/// As many connections, and each with as many requests.
#[track_caller]
fn same_connections(rows: &[RequestRow], log: &[LogLine]) {
    let (mut least, mut most) = (BTreeMap::new(), BTreeMap::new());
    for row in rows.iter().filter(|row| row.processing_ns.is_some()) {
        let cut = row.error == Some(RequestError::Censored);
        *least.entry(row.connection).or_insert(0_u64) += u64::from(!cut);
        *most.entry(row.connection).or_insert(0_u64) += 1;
    }
    let sorted = |counts: Vec<u64>| {
        let mut counts = counts;
        counts.sort_unstable();
        counts
    };
    let mut logged = requests_of(least.len(), log);
    assert!(logged.len() <= least.len(), "{} connections, {} logged", least.len(), logged.len());
    logged.resize(least.len(), 0);
    let (least, most) = (sorted(least.into_values().collect()), sorted(most.into_values().collect()));
    let logged = sorted(logged);
    for ((least, most), logged) in least.iter().zip(&most).zip(&logged) {
        assert!(
            (least..=most).contains(&logged),
            "{logged} requests on a connection, {least} to {most} sent"
        );
    }
}

/// The summary is that of the rows of the window.
#[track_caller]
fn same_summary(summary: &Summary, inside: &[&RequestRow]) {
    assert_eq!(summary.requests, inside.len() as u64);
    let responded = || inside.iter().filter(|row| row.error.is_none());
    assert_eq!(summary.responses, responded().count() as u64);
    assert_eq!(summary.status, count(responded().map(|row| row.status.unwrap())));
    assert_eq!(summary.bytes, inside.iter().map(|row| row.bytes).sum::<u64>());
    let sent = || inside.iter().filter(|row| row.processing_ns.is_some());
    assert_eq!(summary.connections.opened, sent().filter(|row| !row.reused).count() as u64);
    assert_eq!(summary.connections.reused, sent().filter(|row| row.reused).count() as u64);
    for error in RequestError::ALL {
        let failed = inside.iter().filter(|row| row.error == Some(error)).count() as u64;
        let errors = &summary.errors;
        match error {
            RequestError::Connect => assert_eq!(errors.connect, failed),
            RequestError::Timeout => assert_eq!(errors.timeout, failed),
            RequestError::Reset => assert_eq!(errors.reset, failed),
            RequestError::Protocol => assert_eq!(errors.protocol, failed),
            RequestError::Body => assert_eq!(errors.body, failed),
            RequestError::Censored => {}
        }
    }
}
