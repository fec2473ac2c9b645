//! Prints the figures of the models of the literature that the pages in `docs/workloads` give:
//! `cargo run --release -p traffic --example models`.

use std::time::Instant;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use statrs::distribution::{ContinuousCDF, LogNormal, Pareto};
use traffic::model::{Model, UnknownModel, Visit};

const REQUESTS: u32 = 1_000_000;

/// How many requests SURGE makes before it begins again.
const ROUND: usize = 65_757;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for name in ["surge", "surge1998", "webstone", "webstone2", "specweb96"] {
        lengths(name)?;
    }
    locality()?;
    for (body, tail) in [(6968, 32), (6510, 490)] {
        independent(body, tail)?;
    }
    for name in ["surge", "webstone", "specweb96"] {
        cost(name)?;
    }
    Ok(())
}

fn lengths(name: &str) -> Result<(), UnknownModel> {
    let model = Model::named(name.parse()?, 1);
    let files = model.objects().len();
    let largest = model.objects().iter().map(|object| object.length).max().unwrap_or_default();
    let mut stream = model.clone();
    let (mut sum, mut groups) = (0, Vec::<(&str, u32)>::new());
    let requests = if name.starts_with("surge") { ROUND as u32 } else { REQUESTS };
    for _ in 0..requests {
        let object = &model.objects()[stream.request() as usize];
        sum += object.length;
        match groups.iter_mut().find(|(group, _)| *group == &*object.group) {
            Some((_, count)) => *count += 1,
            None => groups.push((&object.group, 1)),
        }
    }
    groups.sort_unstable();
    println!(
        "{name}: {files} files, {} B, largest {largest} B, mean {:.0} B; {requests} requests, mean {:.0} B",
        model.total_bytes(),
        model.total_bytes() as f64 / files as f64,
        sum as f64 / f64::from(requests)
    );
    for (group, count) in groups {
        println!("    {group}: {:.2} % of the requests", f64::from(count) / f64::from(requests) * 100.0);
    }
    Ok(())
}

/// The distances in a list of all files ordered by when they were asked for last.
fn locality() -> Result<(), UnknownModel> {
    let mut model = Model::named("surge".parse()?, 1);
    let (mut stack, mut distances) = (Vec::new(), Vec::new());
    for _ in 0..ROUND {
        let file = model.request();
        if let Some(place) = stack.iter().rposition(|other| *other == file) {
            distances.push(stack.len() - place);
            stack.remove(place);
        }
        stack.push(file);
    }
    distances.sort_unstable();
    print!("stack distances of surge:");
    for percent in [5, 25, 50, 75, 90, 95, 99] {
        print!(" p{percent} {}", distances[distances.len() * percent / 100]);
    }
    println!();
    Ok(())
}

/// What independent draws from the same distributions of lengths give.
fn independent(body: usize, tail: usize) -> Result<(), Box<dyn std::error::Error>> {
    const CUT: f64 = 133_000.0;
    const DATA_SETS: usize = 1000;
    let (lognormal, pareto) = (LogNormal::new(9.357, 1.318)?, Pareto::new(CUT, 1.1)?);
    let below_cut = lognormal.cdf(CUT);
    // The inverse of the lognormal distribution is slow; a table is fine enough for sums.
    let quantiles: Vec<f64> =
        (0..10_000).map(|i| lognormal.inverse_cdf(below_cut * (f64::from(i) + 0.5) / 10_000.0)).collect();
    let mut random = StdRng::seed_from_u64(1);
    let (mut totals, mut largest) = (Vec::new(), Vec::new());
    for _ in 0..DATA_SETS {
        let in_body: f64 = (0..body).map(|_| quantiles[random.random_range(0..quantiles.len())]).sum();
        let in_tail: Vec<f64> = (0..tail).map(|_| pareto.inverse_cdf(random.random())).collect();
        totals.push(in_body + in_tail.iter().sum::<f64>());
        largest.push(in_tail.iter().copied().fold(0.0, f64::max));
    }
    println!("{DATA_SETS} data sets of {body} + {tail} independent draws, p5 p50 p95 in MB:");
    for (what, mut values) in [("total", totals), ("largest", largest)] {
        values.sort_by(f64::total_cmp);
        let [low, middle, high] = [5, 50, 95].map(|percent| values[DATA_SETS * percent / 100] / 1e6);
        println!("    {what} {low:.1} {middle:.1} {high:.1}");
    }
    Ok(())
}

fn cost(name: &str) -> Result<(), UnknownModel> {
    let begun = Instant::now();
    let mut model = Model::named(name.parse()?, 1);
    let made = begun.elapsed();
    let begun = Instant::now();
    let requests = (0..REQUESTS).fold(0_u64, |sum, _| sum + u64::from(model.request()));
    let request = begun.elapsed() / REQUESTS;
    let mut visit = Visit::default();
    let begun = Instant::now();
    let visits = (0..REQUESTS).fold(0, |sum, _| {
        model.visit(&mut visit);
        sum + visit.embedded.len()
    });
    let visit = begun.elapsed() / REQUESTS;
    println!("{name}: made in {made:?}, {request:?} a request, {visit:?} a visit ({requests}, {visits})");
    Ok(())
}
