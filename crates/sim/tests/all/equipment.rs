//! What requests need besides a processor.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use sim::{Class, Equipment, Model, Offered, Outcome, Plan, Size};

/// A link of which responses of very different sizes need half, and a disk that is half busy.
fn model(threads: u32) -> Model {
    let size = Some(Size { mean: 10_000.0, cv: 3.0 });
    let disk = 0.005;
    Model {
        classes: vec![Class { disk, size, ..Class::new("all", 1.0, 0.001) }],
        offered: Offered::Rate(100.0),
        equipment: Equipment { link: Some(1.25e6), ..Equipment::default() },
        threads,
        ..Model::default()
    }
}

fn run(model: &Model, seed: u64) -> Outcome {
    let plan =
        Plan { seed, requests: 5000, warmup: Some(0), replications: 2, precision: None, ..Plan::default() };
    sim::run(model, &plan).unwrap()
}

/// Requests that one server rejects and the other does not change nothing of what the others need.
#[test]
fn servers_that_are_compared_meet_the_same_sizes_and_disk_times() {
    let latency = |threads, seed| run(&model(threads), seed).latency.mean.mean;
    let rejected = run(&model(25), 1).rejected.mean;
    assert!((1e-4..1e-2).contains(&rejected), "{rejected}");
    let both: Vec<(f64, f64)> = (1..9).map(|seed| (latency(25, seed), latency(200, seed))).collect();
    let differences = spread(both.iter().map(|(few, many)| many - few));
    let chance = spread(both.iter().map(|(_, many)| *many));
    assert!(differences < 0.1 * chance, "{differences} {chance}");
}

/// The standard deviation.
fn spread(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let n = values.clone().count() as f64;
    let mean = values.clone().sum::<f64>() / n;
    (values.map(|value| (value - mean).powi(2)).sum::<f64>() / n).sqrt()
}
