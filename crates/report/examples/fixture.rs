//! Writes an experiment with made-up figures and its report into a directory, for the tests of
//! the page in `web/`: `cargo run -p report --example fixture -- DIR`.
#![allow(clippy::unwrap_used, reason = "the tests' fixture")]

#[path = "../tests/fixture/mod.rs"]
mod fixture;

use std::path::Path;

fn main() {
    let directory = std::env::args().nth(1).unwrap_or_else(|| {
        eprintln!("usage: fixture DIR");
        std::process::exit(2);
    });
    let directory = Path::new(&directory);
    fixture::write(directory, &fixture::plans());
    println!("{}", report::Report::read(directory).unwrap().write(directory).unwrap().display());
}
