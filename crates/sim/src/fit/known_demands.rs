//! Fits of logs whose demands are known: what a server with these does is computed exactly, and written down as servers
//! write it, in whole seconds or finer.

use std::fmt::Write as _;
use std::io::Write as _;

use rand::{Rng, SeedableRng};
use rand_distr::Distribution;

use super::demands::Server;
use super::*;
use crate::draw::{Arrivals, Demands, Gaps, Random, Service};
use crate::{Model, Plan};

const REQUESTS: usize = 40_000;
/// Static and dynamic pages, in seconds; three of ten are dynamic.
const NEEDS: [f64; 2] = [0.005, 0.1];
const DYNAMIC: f64 = 0.3;

/// What is logged.
struct Case {
    arrivals: &'static str,
    rate: f64,
    service: &'static str,
    processors: u32,
    threads: Option<u32>,
    /// How much farther off figures may be: of bursts, which are few, and of static requests in them, which are mostly in
    /// the server to wait for others.
    slack: f64,
}

const CASE: Case =
    Case { arrivals: "poisson", rate: 10.0, service: "gamma:0.6", processors: 1, threads: None, slack: 1.0 };

/// Requests in the order of their ends: when they came, of which class they are, and how long they took.
fn log(case: &Case) -> Vec<(f64, bool, f64)> {
    let arrivals: Arrivals = case.arrivals.parse().unwrap();
    let mut gaps = Gaps::new(&arrivals, case.rate.recip(), Random::seed_from_u64(3));
    let mut random = Random::seed_from_u64(4);
    let law = Demands::of(case.service.parse::<Service>().unwrap());
    let mut now = 0.0;
    let mut came = Vec::new();
    for _ in 0..REQUESTS {
        now += gaps.draw();
        let is_dynamic = random.random_bool(DYNAMIC);
        came.push((now, is_dynamic, NEEDS[usize::from(is_dynamic)] * law.sample(&mut random)));
    }
    let times: Vec<f64> = came.iter().map(|(at, ..)| *at).collect();
    let needs: Vec<f64> = came.iter().map(|(.., need)| *need).collect();
    let took = Server { processors: case.processors, threads: case.threads }.replay(&times, &needs);
    let mut log: Vec<_> =
        came.iter().zip(took).map(|((at, dynamic, _), took)| (*at, *dynamic, took)).collect();
    log.sort_by(|(one, _, took), (other, _, other_took)| (one + took).total_cmp(&(other + other_took)));
    log
}

/// As Apache writes it, with %D at the end.
fn written(log: &[(f64, bool, f64)], decimals: usize) -> tempfile::NamedTempFile {
    let mut text = String::new();
    for (at, is_dynamic, took) in log {
        let at = 1e9 + if decimals == 0 { at.floor() } else { *at };
        let url = if *is_dynamic { "/page.php?x=1" } else { "/image.gif" };
        writeln!(text, "h - - [{at:.decimals$}] \"GET {url} HTTP/1.1\" 200 5 \"-\" \"-\" {:.0}", took * 1e6)
            .unwrap();
    }
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file
}

#[track_caller]
fn check(name: &str, case: &Case) {
    let log = log(case);
    for decimals in [0, 6] {
        let format = LogFormat { time_taken: TimeTaken::Micros, ..LogFormat::default() };
        let observation = Observation::of_log(written(&log, decimals).path(), format).unwrap();
        let options = FitOptions {
            // All of it is one window, as long as it may be.
            window: units::Span::from_secs(1_000_000),
            processors: case.processors,
            threads: case.threads,
            ..FitOptions::default()
        };
        let fit = fit(&observation, &options).unwrap();
        let name = format!("{name}, {decimals} decimals");
        let near = [if decimals == 0 { 0.05 * case.slack } else { 0.05 }, 0.05];
        for ((class, known), near) in fit.classes.iter().zip(NEEDS).zip(near) {
            let found = class.demand.unwrap();
            assert!((found / known - 1.0).abs() < near, "{name}: {} needs {found}\n{fit}", class.name);
        }
        let agreement = fit.check.as_ref().unwrap();
        let mut told = agreement.figures.iter().filter(|figure| figure.name != "p50" || case.slack < 2.0);
        assert!(told.all(|figure| figure.agrees), "{name}\n{fit}");
        predicted(&name, &fit, &log, case.slack);
    }
}

/// By the model with arrivals of its own.
#[track_caller]
fn predicted(name: &str, fit: &Fit, log: &[(f64, bool, f64)], slack: f64) {
    let (model, _) = fit.model().unwrap();
    let threads = if fit.threads.is_some() { model.threads } else { 1000 };
    let model = Model { threads, ..model };
    let plan = Plan { replications: 16, requests: 40_000, precision: None, ..Plan::default() };
    let outcome = crate::run(&model, &plan).unwrap();
    let rising = stats::order::rising(log.iter().map(|(.., took)| *took));
    let mean = stats::mean(rising.iter().copied()).unwrap();
    let at = |quantile| stats::order::nearest_rank(&rising, quantile).unwrap();
    // Bursts are few: of the same length, another log would be as far from this one.
    let chance = |name: &str| {
        let figures = &fit.check.as_ref().unwrap().figures;
        let figure = figures.iter().find(|figure| figure.name == name).unwrap();
        (figure.chance[1] - figure.model) / figure.model
    };
    for (figure, predicted, known, within) in [
        ("mean", outcome.latency.mean.mean, mean, 0.05),
        ("p90", outcome.latency.p90.mean, at(0.9), 0.1),
        ("p99", outcome.latency.p99.mean, at(0.99), 0.1),
    ] {
        let within = f64::max(within * slack, chance(figure));
        assert!((predicted / known - 1.0).abs() < within, "{name}: {figure} {predicted} of {known}\n{fit}");
    }
}

#[test]
fn of_independent_arrivals() {
    check("poisson", &CASE);
    check("poisson, 0.7", &Case { rate: 21.0, ..CASE });
}

#[test]
fn of_bursts() {
    check("h2:3", &Case { arrivals: "h2:3", rate: 6.0, ..CASE });
    check("on and off", &Case { arrivals: "mmpp:20:5s:20s", rate: 6.0, slack: 2.0, ..CASE });
}

#[test]
fn of_two_processors() {
    check("two processors", &Case { rate: 30.0, processors: 2, ..CASE });
}

#[test]
fn of_five_threads() {
    check("five threads", &Case { arrivals: "h2:2", rate: 10.0, threads: Some(5), ..CASE });
}

#[test]
fn of_long_tails() {
    check("long tails", &Case { rate: 8.0, service: "lognormal:2", ..CASE });
}

/// What each request takes longer is told from what it needs, in whatever order they are worked on.
#[test]
fn of_a_network() {
    for (threads, network) in [(None, 0.001), (Some(1), 0.001), (None, 0.01), (Some(1), 0.02)] {
        let case = Case { rate: 12.0, service: "gamma:0.1", threads, ..CASE };
        let mut log = log(&case);
        log.iter_mut().for_each(|(.., took)| *took += network);
        let format = LogFormat { time_taken: TimeTaken::Micros, ..LogFormat::default() };
        let observation = Observation::of_log(written(&log, 6).path(), format).unwrap();
        let window = units::Span::from_secs(1_000_000);
        let fit = fit(&observation, &FitOptions { window, threads, ..FitOptions::default() }).unwrap();
        // What is taken from the one is given to the other.
        for ((class, known), near) in fit.classes.iter().zip(NEEDS).zip([0.1, 0.05]) {
            assert!((class.demand.unwrap() / known - 1.0).abs() < near, "{network}: {fit}");
        }
        let off = (fit.network.unwrap_or_default() - network).abs();
        assert!(off < (0.05 * network).max(0.0005), "{network}: {fit}");
        predicted("a network", &fit, &log, 1.0);
    }
}

/// One request after the other, as an event loop has them, which is found without being told.
#[test]
fn of_an_event_loop() {
    let case = Case { rate: 15.0, threads: Some(1), ..CASE };
    let log = log(&case);
    let format = LogFormat { time_taken: TimeTaken::Micros, ..LogFormat::default() };
    for decimals in [0, 6] {
        let observation = Observation::of_log(written(&log, decimals).path(), format.clone()).unwrap();
        let fit = fit(&observation, &FitOptions::default()).unwrap();
        assert_eq!(fit.threads, Some(1), "{fit}");
        for (class, known) in fit.classes.iter().zip(NEEDS) {
            assert!((class.demand.unwrap() / known - 1.0).abs() < 0.05, "{fit}");
        }
    }
}
