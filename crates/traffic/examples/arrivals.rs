//! Prints the figures that `docs/workloads/arrivals.md` gives:
//! `cargo run --release -p traffic --example arrivals`.

use std::time::Instant;

use traffic::{Arrivals, PoissonCheck, Process, ProcessError, Profile};
use units::{Rate, Span, Time};

const ARRIVALS: usize = 1_000_000;

/// Arrivals per second.
const RATE: f64 = 100.0;

fn main() -> Result<(), ProcessError> {
    println!("{ARRIVALS} gaps, in units of the mean that was asked for; arrivals per second at {RATE}/s");
    println!("process       mean    c_v    p10    p50    p90    p99    max   busiest second   ns an arrival");
    for name in
        ["constant", "poisson", "h2:2", "h2:4", "gamma:0.5", "gamma:2", "lognormal:0.5", "lognormal:2"]
    {
        figures(name, name.parse()?);
    }
    println!("false alarms of the Poisson check: {}", false_alarms());
    for gaps in [200, 500, 1000, 5000] {
        let found = |cv| Process::hyperexponential(cv).map(|process| alarms(process, gaps));
        println!(
            "alarms in 1000 runs of {gaps} gaps: h2:1.2 {}, h2:1.5 {}, h2:2 {}",
            found(1.2)?,
            found(1.5)?,
            found(2.0)?
        );
    }
    Ok(())
}

fn profile(per_second: f64) -> Profile {
    Profile::constant(Rate::per_second(per_second).unwrap_or_default())
}

fn figures(name: &str, process: Process) {
    let begun = Instant::now();
    let times: Vec<Time> = Arrivals::new(process, &profile(RATE), 1.0, 1, 0).take(ARRIVALS).collect();
    let took = begun.elapsed() / ARRIVALS as u32;
    let mut gaps: Vec<f64> = [Time::ZERO]
        .iter()
        .chain(&times)
        .zip(&times)
        .map(|(before, time)| time.since(*before).as_secs_f64() * RATE)
        .collect();
    gaps.sort_by(f64::total_cmp);
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
    let busiest = times.chunk_by(|a, b| second(*a) == second(*b)).map(<[Time]>::len).max().unwrap_or(0);
    let [p10, p50, p90, p99] = [0.1, 0.5, 0.9, 0.99].map(|share| gaps[(gaps.len() as f64 * share) as usize]);
    println!(
        "{name:<13} {mean:.3} {:6.3} {p10:6.3} {p50:6.3} {p90:6.3} {p99:6.2} {:6.1} {busiest:10} {:15}",
        variance.sqrt() / mean,
        gaps[gaps.len() - 1],
        took.as_nanos()
    );
}

fn second(time: Time) -> u64 {
    time.as_nanos() / 1_000_000_000
}

/// How many of a thousand runs are called suspicious.
fn alarms(process: Process, gaps: usize) -> usize {
    (0..1000)
        .filter(|seed| verdict(process, *seed, gaps).is_some_and(|p| p < PoissonCheck::SUSPICIOUS))
        .count()
}

fn false_alarms() -> String {
    let runs = 100_000;
    let alarms = (0..runs)
        .filter(|seed| verdict(Process::Poisson, *seed, 200).is_some_and(|p| p < PoissonCheck::SUSPICIOUS));
    format!("{} in {runs} runs of 200 gaps", alarms.count())
}

/// At a rate where each gap is looked at by itself.
fn verdict(process: Process, seed: u64, gaps: usize) -> Option<f64> {
    const PER_SECOND: f64 = 50.0;
    let mut check = PoissonCheck::new();
    let mut before = Time::ZERO;
    for time in Arrivals::new(process, &profile(PER_SECOND), 1.0, seed, 0).take(gaps) {
        check.record(time.since(before), Span::from_secs_f64(1.0 / PER_SECOND));
        before = time;
    }
    check.verdict()
}
