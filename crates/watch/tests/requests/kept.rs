//! What is kept of the last minutes shows what happened, as fine as it was.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use testkit::{Nginx, Raw, poll_until};
use units::Span;
use watch::read::{Reading, Wanted, read};
use watch::requests::{Budget, Classes};
use watch::{Addresses, Groups, Keep, Options, Watch, Whose};

use crate::is_able;
use crate::servers::{address, documents};

/// Pauses that are planted, and how long each is.
const PAUSES: usize = 20;
const PAUSE: Duration = Duration::from_millis(50);

fn options(port: u16, directory: &Path, thresholds: &[&str]) -> Options {
    Options {
        programs: Vec::new(),
        at: Addresses::at_port(port),
        groups: Groups::every(Span::from_millis(200)),
        classes: Classes::default(),
        budget: Budget::Unlimited,
        counts_all: true,
        seed: 1,
        keep: Some(Keep {
            span: Span::from_secs(60),
            directory: directory.to_owned(),
            thresholds: thresholds.iter().map(|text| text.parse().unwrap()).collect(),
        }),
        whose: Whose::default(),
    }
}

/// Watches until `is_over`, and then to the end. When it began.
fn watch(options: Options, is_over: impl Fn(&Watch) -> bool) -> Instant {
    let mut watch = Watch::begin(options, None).unwrap();
    let began = Instant::now() - Duration::from(watch.age());
    let mut looked = Instant::now();
    while !is_over(&watch) {
        assert!(began.elapsed() < Duration::from_secs(60), "it does not end");
        let next = watch.turn().unwrap();
        if looked.elapsed() > Duration::from_millis(200) {
            watch.look(true).unwrap();
            looked = Instant::now();
        }
        std::thread::sleep(next.min(Duration::from_millis(5)));
    }
    watch.end(false).unwrap();
    began
}

/// Clients that ask for something small some hundreds of times a second each, until they are to stop.
fn clients<T: Send>(address: std::net::SocketAddr, meanwhile: impl FnOnce() -> T + Send) -> T {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                // nginx ends a connection after a thousand requests.
                while !is_over.load(Ordering::Relaxed) {
                    let mut client = Raw::connect(address);
                    for _ in 0..900 {
                        if is_over.load(Ordering::Relaxed) {
                            break;
                        }
                        client.get("/small").response();
                        std::thread::sleep(Duration::from_millis(2));
                    }
                }
            });
        }
        let result = meanwhile();
        is_over.store(true, Ordering::Relaxed);
        result
    })
}

fn all_looks(directory: &Path) -> Reading {
    read(directory, Wanted { interval: Some(Span::ZERO), slowest: 3, ..Wanted::default() }).unwrap()
}

#[test]
fn each_pause_of_the_server_is_found() {
    if !is_able() {
        return;
    }
    let (place, kept) = (documents(), tempfile::tempdir().unwrap());
    let Some(nginx) = Nginx::start(place.path(), "") else { return };
    let server = address(nginx.url());
    let (has_begun, is_over) = (AtomicBool::new(false), AtomicBool::new(false));
    let (planted, began) = clients(server, || {
        std::thread::scope(|scope| {
            let planting = scope.spawn(|| {
                poll_until(testkit::PATIENCE, "the watch", || {
                    has_begun.load(Ordering::Relaxed).then_some(())
                });
                std::thread::sleep(Duration::from_millis(1200));
                let mut planted = Vec::new();
                for number in 0..PAUSES as u64 {
                    planted.push(Instant::now());
                    nginx.stop_for(PAUSE);
                    std::thread::sleep(Duration::from_millis(350 + 7 * number));
                }
                std::thread::sleep(Duration::from_millis(1200));
                is_over.store(true, Ordering::Relaxed);
                planted
            });
            let began = watch(options(server.port(), kept.path(), &[]), |_| {
                has_begun.store(true, Ordering::Relaxed);
                is_over.load(Ordering::Relaxed)
            });
            (planting.join().unwrap(), began)
        })
    });
    let reading = all_looks(&kept.path().join("kept-1"));
    let times = planted.iter().map(|pause| pause.duration_since(began).as_secs_f64());
    let is_found = |at: f64| {
        reading.pauses.iter().any(|found| {
            let to = found.from + found.length;
            (at - 0.05..at + 0.08).contains(&found.from) && to > at + 0.02 && found.length < 0.2
        })
    };
    let missed: Vec<f64> = times.filter(|at| !is_found(*at)).collect();
    // Where other tests run, the monitor may have had no processor for as long.
    assert!(missed.len() <= 1, "{missed:?} {:?}", reading.pauses);
    let figures = &reading.rows[reading.rows.len() / 2].figures;
    for name in ["kernel.run_queue", "processes.cpu{nginx}", "requests.rate{0-50k}"] {
        assert!(figures.contains_key(name), "{figures:?}");
    }
    assert!(figures.contains_key(&format!("listen_queue.waiting{{{}}}", server.port())), "{figures:?}");
    // Those that were held up are the slowest.
    assert!(reading.slowest.len() == 3 && reading.slowest[2].duration > 0.03, "{:?}", reading.slowest);
    assert!(reading.text().contains("no response for "), "{}", reading.text());
}

#[test]
fn what_is_out_of_the_ordinary_has_it_written() {
    if !is_able() {
        return;
    }
    let (place, kept) = (documents(), tempfile::tempdir().unwrap());
    let Some(nginx) = Nginx::start(place.path(), "") else { return };
    let server = address(nginx.url());
    let first = kept.path().join("kept-1");
    clients(server, || {
        let options = options(server.port(), kept.path(), &["requests.rate{0-50k}>50"]);
        watch(options, |watch| first.join("summary.json").exists() && watch.age() > Span::from_secs(4));
    });
    let why = std::fs::read_to_string(first.join("run.toml")).unwrap();
    assert!(why.contains("requests.rate{0-50k}>50 was asked for"), "{why}");
    // The rest at the end, once.
    let (first, second) = (all_looks(&first), all_looks(&kept.path().join("kept-2")));
    assert!(first.to <= second.from + 0.05, "{} {}", first.to, second.from);
    poll_until(testkit::PATIENCE, "nothing", || (!kept.path().join("kept-3").exists()).then_some(()));
}
