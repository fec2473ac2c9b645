//! Writes an experiment, one of searches, a sweep of the simulator, a simulation, a run, a run that
//! does not count and two watches, with made-up figures and their reports, into `DIR/experiment`,
//! `DIR/searches`, `DIR/simulation`, `DIR/simulated`, `DIR/run`, `DIR/late` and `DIR/watches`, for
//! the tests of the page in `web/`:
//! `cargo run -p report --example fixture -- DIR`.
#![allow(clippy::unwrap_used, reason = "the tests' fixture")]
#![allow(dead_code, reason = "the tests use more of the fixture")]

#[path = "../tests/fixture/mod.rs"]
mod fixture;

use std::path::Path;

use fixture::{run, search, simulated, sweep, watch};

fn main() {
    let directory = std::env::args().nth(1).unwrap_or_else(|| {
        eprintln!("usage: fixture DIR");
        std::process::exit(2);
    });
    let experiment = Path::new(&directory).join("experiment");
    fixture::write(&experiment, &fixture::plans());
    println!("{}", report::Document::read(&experiment).unwrap().write(&experiment).unwrap().display());
    let searches = Path::new(&directory).join("searches");
    search::write(&searches);
    println!("{}", report::Document::read(&searches).unwrap().write(&searches).unwrap().display());
    let simulation = Path::new(&directory).join("simulation");
    sweep::write(&simulation, [0.067, 0.035], 2);
    println!("{}", report::Document::read(&simulation).unwrap().write(&simulation).unwrap().display());
    let simulated = Path::new(&directory).join("simulated");
    simulated::write(&simulated);
    println!("{}", report::Document::read(&simulated).unwrap().write(&simulated).unwrap().display());
    let run = Path::new(&directory).join("run");
    let (info, rows) = run::ramp();
    run::write(&run, &info, &rows);
    println!("{}", report::run(&run).unwrap().display());
    let late = Path::new(&directory).join("late");
    run::write_late_sessions(&late);
    println!("{}", report::run(&late).unwrap().display());
    let watches = Path::new(&directory).join("watches");
    watch::write(&watches);
    println!("{}", report::Document::read(&watches).unwrap().write(&watches).unwrap().display());
}
