//! Prints what an access log amounts to as a trace, and which of its lines were skipped:
//! `cargo run --release -p traffic --example trace LOG...`.

use std::path::Path;
use std::time::Instant;

use traffic::trace::{AccessLog, Error};

fn main() -> Result<(), Error> {
    for file in std::env::args().skip(1) {
        let begun = Instant::now();
        let trace = AccessLog::default().read(Path::new(&file))?;
        let took = begun.elapsed() / u32::try_from(trace.skipped.lines).unwrap_or(u32::MAX);
        let summary = trace.summary();
        println!("{file}: {summary}");
        println!("    methods {:?}, statuses {:?}", summary.methods, summary.statuses);
        println!("    {}", trace.skipped);
        println!("    read in {took:?} a line");
    }
    Ok(())
}
