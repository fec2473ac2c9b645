//! SURGE against table 2 of Barford and Crovella, and the data set of Shin, Koh and Won.

use statrs::distribution::{ContinuousCDF, LogNormal, Pareto, Weibull};
use traffic::model::{Model, Visit};

use crate::goodness::{assert_drawn_from, assert_shared_out, kolmogorov_smirnov};
use crate::{named, requests, visits};

const FILES: usize = 7000;

/// Bytes; where the body of the files ends.
const CUT: f64 = 133_000.0;

/// How many requests Zipf's law makes for 7000 files if the last has one.
const ROUND: usize = 65_757;

fn lengths(model: &Model, group: &str) -> Vec<f64> {
    let objects = model.objects().iter().filter(|object| &*object.group == group);
    objects.map(|object| object.length as f64).collect()
}

/// How often each file is asked for in one round, most popular first.
fn popularity(name: &str) -> Vec<u32> {
    let mut counts = vec![0; FILES];
    for file in requests(name, 1, ROUND) {
        counts[file as usize] += 1;
    }
    counts.sort_unstable_by(|a, b| b.cmp(a));
    counts
}

fn requested(name: &str) -> Vec<f64> {
    let model = named(name, 1);
    let length = |file: u32| model.objects()[file as usize].length as f64;
    requests(name, 1, ROUND).into_iter().map(length).collect()
}

/// For each request but the first for a file: which place the file had in a list of all files
/// ordered by when they were asked for last.
fn stack_distances(requests: &[u32]) -> Vec<f64> {
    let mut stack: Vec<u32> = Vec::new();
    let mut distances = Vec::new();
    for file in requests {
        if let Some(place) = stack.iter().rposition(|other| other == file) {
            distances.push((stack.len() - place) as f64);
            stack.remove(place);
        }
        stack.push(*file);
    }
    distances
}

#[track_caller]
fn assert_within(share: f64, what: &str, actual: f64, published: f64) {
    let off = actual / published - 1.0;
    assert!(off.abs() <= share, "{what}: {actual}, published {published}, {:+.1} %", off * 100.0);
}

#[test]
fn the_data_set_of_the_response_time_paper_comes_out() {
    let model = named("surge", 1);
    let largest = model.objects().iter().map(|object| object.length).max().unwrap();
    let requested = requested("surge");
    let mean = requested.iter().sum::<f64>() / ROUND as f64;
    assert_eq!(model.objects().len(), 7000);
    for (prefix, thousand) in [("decimal", 1000.0_f64), ("binary", 1024.0)] {
        let (kilo, mega) = (thousand, thousand.powi(2));
        assert_within(0.05, &format!("total, {prefix}"), model.total_bytes() as f64 / mega, 158.1);
        assert_within(0.05, &format!("largest, {prefix}"), largest as f64 / mega, 5.76);
        assert_within(0.05, &format!("mean request, {prefix}"), mean / kilo, 14.7);
    }
}

#[test]
fn the_body_is_lognormal_below_the_cut() {
    let lognormal = LogNormal::new(9.357, 1.318).unwrap();
    for (name, files) in [("surge", 6968), ("surge1998", 6510)] {
        let body = lengths(&named(name, 1), "body");
        assert_eq!(body.len(), files);
        assert!(body.iter().all(|length| *length <= CUT));
        let distance = kolmogorov_smirnov(body, |x| lognormal.cdf(x) / lognormal.cdf(CUT));
        assert!(distance < 0.0005, "{name}: {distance}");
    }
}

#[test]
fn the_tail_is_pareto_from_the_cut() {
    let pareto = Pareto::new(CUT, 1.1).unwrap();
    for (name, files) in [("surge", 32), ("surge1998", 490)] {
        let tail = lengths(&named(name, 1), "tail");
        assert_eq!(tail.len(), files);
        let distance = kolmogorov_smirnov(tail, |x| pareto.cdf(x));
        assert!(distance < 0.51 / files as f64, "{name}: {distance}");
    }
    assert_eq!(lengths(&named("surge1998", 1), "tail").len() * 100, FILES * 7);
}

#[test]
fn popularity_is_zipfs() {
    for name in ["surge", "surge1998"] {
        let counts = popularity(name);
        assert_eq!(counts.iter().sum::<u32>() as usize, ROUND);
        for (rank, count) in (1..).zip(&counts) {
            assert!((f64::from(*count) - FILES as f64 / f64::from(rank)).abs() <= 0.5, "{name}: rank {rank}");
        }
        let points: Vec<(f64, f64)> = (1..=500)
            .zip(&counts)
            .map(|(rank, count)| (f64::from(rank).ln(), f64::from(*count).ln()))
            .collect();
        let slope = slope(&points);
        assert!((slope + 1.0).abs() < 0.01, "{name}: slope {slope}");
    }
}

fn slope(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |(x, y), point| (x + point.0 / n, y + point.1 / n));
    let (xy, xx) = points
        .iter()
        .fold((0.0, 0.0), |(xy, xx), point| (xy + (point.0 - x) * (point.1 - y), xx + (point.0 - x).powi(2)));
    xy / xx
}

/// The most popular file alone has 10.6 % of the requests, all of one length: no choice of files
/// comes closer to a continuous distribution than half of that.
#[test]
fn the_lengths_of_requests_are_paretos() {
    let pareto = Pareto::new(1000.0, 1.0).unwrap();
    for name in ["surge", "surge1998"] {
        let distance = kolmogorov_smirnov(requested(name), |x| pareto.cdf(x));
        assert!(distance < 0.056, "{name}: {distance}");
        let tail: Vec<f64> = requested(name).into_iter().filter(|length| *length >= CUT).collect();
        let above_cut = Pareto::new(CUT, 1.0).unwrap();
        let distance = kolmogorov_smirnov(tail, |x| above_cut.cdf(x));
        assert!(distance < 0.05, "{name}, tail: {distance}");
    }
}

#[test]
fn stack_distances_are_lognormal() {
    let lognormal = LogNormal::new(1.5, 0.80).unwrap();
    for seed in [1, 2] {
        let distances = stack_distances(&requests("surge", seed, ROUND));
        assert_eq!(distances.len(), ROUND - FILES, "first requests have no distance");
        let n = distances.len() as f64;
        for distance in 1..200 {
            let distance = f64::from(distance);
            let share = distances.iter().filter(|d| **d <= distance).count() as f64 / n;
            let off = share - lognormal.cdf(distance);
            assert!(off.abs() < 0.055, "seed {seed}: {share} up to {distance}, off {off}");
        }
    }
}

/// A run is shorter than a round, so each part of a round has to be like any other.
#[test]
fn each_part_of_a_round_is_like_the_others() {
    let all = requests("surge", 1, 2 * ROUND);
    assert!(all[..ROUND] == all[ROUND..], "rounds are the same");
    let model = named("surge", 1);
    let mut counts = [0; FILES];
    all[..ROUND].iter().for_each(|file| counts[*file as usize] += 1);
    let most_popular = (0..).zip(counts).max_by_key(|(_, count)| *count).unwrap().0;
    for part in all[..ROUND].chunks_exact(ROUND / 10) {
        let popular = part.iter().filter(|file| **file == most_popular).count();
        assert!((680..=720).contains(&popular), "{popular} of about 700");
        let mut distinct = part.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        assert!((690..=860).contains(&distinct.len()), "{} files", distinct.len());
        let median = {
            let mut lengths: Vec<u64> =
                part.iter().map(|file| model.objects()[*file as usize].length).collect();
            lengths.sort_unstable();
            lengths[lengths.len() / 2]
        };
        assert!((1000..=3000).contains(&median), "median {median}, published 2000");
    }
}

#[test]
fn pages_have_as_many_embedded_objects_as_published() {
    let mut counts = [0; 12];
    for visit in visits("surge", 1, 100_000) {
        counts[visit.embedded.len().min(12) - 1] += 1;
    }
    let above = |n: usize| (n as f64).powf(-2.43);
    let mut probabilities: Vec<f64> = (1..12).map(|n| above(n) - above(n + 1)).collect();
    probabilities.push(above(12));
    assert_shared_out(&counts, &probabilities);
}

#[test]
fn pauses_are_as_published() {
    let visits = visits("surge", 1, 100_000);
    let active = Weibull::new(0.382, 1.46).unwrap();
    let pauses = visits.iter().flat_map(|visit| &visit.embedded).map(|embedded| embedded.pause.as_secs_f64());
    assert_drawn_from(pauses.collect(), |x| active.cdf(x));
    let inactive = Pareto::new(1.0, 1.5).unwrap();
    assert_drawn_from(visits.iter().map(|visit| visit.think.as_secs_f64()).collect(), |x| inactive.cdf(x));
}

#[test]
fn visits_take_the_requests_one_after_the_other() {
    let mut model = named("surge", 1);
    let mut visit = Visit::default();
    let mut visited = Vec::new();
    while visited.len() < ROUND {
        model.visit(&mut visit);
        visited.push(visit.page);
        visited.extend(visit.embedded.iter().map(|embedded| embedded.object));
    }
    assert!(visited[..ROUND] == requests("surge", 1, ROUND));
}

#[test]
fn without_pauses_the_same_is_asked_for() {
    for visit in visits("surge", 1, 500) {
        let mut at_once = visit.clone();
        at_once.without_pauses();
        let objects = |visit: &Visit| visit.embedded.iter().map(|it| it.object).collect::<Vec<_>>();
        assert_eq!((at_once.page, objects(&at_once)), (visit.page, objects(&visit)));
        assert!(at_once.think.is_zero() && at_once.embedded.iter().all(|it| it.pause.is_zero()));
        assert!(!visit.think.is_zero());
    }
}
