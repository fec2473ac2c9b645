//! Searches of a server that is simulated: it serves so many per second, and keeps what is too much.

use std::path::PathBuf;

use record::Summary;
use traffic::Ramp;
use units::Ratio;

use super::*;
use crate::load::generator::Offer;

/// As `headworks lab capacity` has it.
fn options() -> SearchOptions {
    SearchOptions {
        url: String::new(),
        load: Vec::new(),
        objectives: Vec::new(),
        arrivals: "constant".to_owned(),
        cpus: None,
        precision: Ratio::clamped(0.02),
        ramp: None,
        crowd: None,
        cold: None,
        out: None,
        watch: false,
        seed: 1,
        headworks: PathBuf::new(),
    }
}

/// What a server with so many workers, each of which serves fifty per second, makes of a probe.
fn serve(plan: &ProbePlan, workers: f64) -> Probe {
    let capacity = workers * 50.0;
    let (achieved, offered) = match plan.offer {
        Offer::Closed(clients) => (capacity.min(f64::from(clients) * 50.0), None),
        Offer::Rate(rate) => (capacity.min(rate.as_f64()), Some(rate.as_f64())),
    };
    let duration = plan.length.as_secs_f64();
    let count = (offered.unwrap_or(achieved) * duration) as u64;
    let mut summary = Summary { requests: count, responses: count, duration, ..Summary::default() };
    summary.rate.achieved = achieved;
    summary.client.valid = true;
    let growth = offered.map(|rate| 1.0 - achieved / rate).filter(|growth| *growth > 0.0);
    Probe { offer: plan.offer, summary, growth, blind: 0.0, parts: vec![achieved; 10] }
}

/// Carries out a search on virtual time; gives what it did besides.
fn run(search: &SearchOptions, workers: f64) -> (SearchResult, Result<(), Error>, Vec<Next>) {
    let mut steps = Steps::new(search);
    let (mut elapsed, mut done) = (Duration::ZERO, Vec::new());
    loop {
        let next = steps.next(elapsed);
        done.push(next);
        assert!(done.len() < 100, "{done:?}");
        match next {
            Next::Probe(plan) => {
                elapsed += Duration::from(plan.warmup + plan.length);
                steps.add(&serve(&plan, workers), format!("probes/{}", done.len())).unwrap();
            }
            Next::Rest(rest) => elapsed += Duration::from(rest.look.length),
            Next::Nothing => break,
        }
    }
    let found = steps.found();
    let result = steps.check(&found);
    (found, result, done)
}

#[test]
fn the_capacity_of_a_server_is_found_and_it_rests_after_what_was_too_much() {
    let search = options();
    let (found, result, done) = run(&search, 4.0);
    result.unwrap();
    let capacity = found.capacity.unwrap();
    assert!((capacity.rate / 200.0 - 1.0).abs() < 0.03, "{capacity:?}");
    assert!(capacity.ci[0] <= 200.0 && 200.0 <= capacity.ci[1], "{capacity:?}");
    let clients: Vec<_> = found.probes.iter().map_while(|probe| probe.clients).collect();
    assert_eq!(clients, [1, 4, 16], "until more clients are of no use");
    let too_much = found.probes.iter().filter(|probe| probe.behind.is_some()).count();
    let rests = done.iter().filter(|next| matches!(next, Next::Rest(_))).count();
    assert_eq!(rests, too_much + 1, "once more after the closed loops");
}

/// What a precision tolerates is in the interval as well.
#[test]
fn the_interval_holds_the_capacity_however_precise_it_is_to_be() {
    for precision in [0.02, 0.05, 0.1, 0.2, 0.4] {
        let search = SearchOptions { precision: Ratio::clamped(precision), ..options() };
        for workers in 1..40 {
            let (found, result, _) = run(&search, f64::from(workers));
            result.unwrap();
            let (capacity, real) = (found.capacity.unwrap(), f64::from(workers) * 50.0);
            assert!(
                capacity.ci[0] <= real * (1.0 + 1e-9) && real <= capacity.ci[1] * (1.0 + 1e-9),
                "{precision}: {capacity:?} of {real}"
            );
        }
    }
}

#[test]
fn a_slow_server_is_given_more_time() {
    let mut steps = Steps::new(&*Box::leak(Box::new(options())));
    let mut lengths = Vec::new();
    for _ in 0..3 {
        let Next::Probe(plan) = steps.next(Duration::ZERO) else { panic!("{steps:?}") };
        lengths.push(plan.length.as_secs_f64());
        // A fiftieth of a worker: one per second.
        steps.add(&serve(&plan, 0.02), String::new()).unwrap();
    }
    assert_eq!(lengths, [1.0, 10.0, 10.0], "alone, alone again, and four clients for ten responses of one");
}

#[test]
fn a_ramp_is_climbed_to_its_end_and_says_when_the_server_kept_up_with_all() {
    let ramp: Ramp = "60:180:60:1s".parse().unwrap();
    let search = SearchOptions { ramp: Some(ramp), ..options() };
    let offered =
        |found: &SearchResult| found.probes.iter().filter_map(|probe| probe.offered).collect::<Vec<_>>();
    let (found, result, _) = run(&search, 4.0);
    assert_eq!(offered(&found), [60.0, 120.0, 180.0]);
    assert!(matches!(result, Err(Error::KeptUp(rate)) if rate > 179.0), "{result:?}");
    let (found, result, _) = run(&search, 3.0);
    result.unwrap();
    assert_eq!(found.capacity.unwrap().ci, [120.0, 180.0]);
}

#[test]
fn a_server_that_answers_with_errors_is_not_searched() {
    let search = options();
    let mut steps = Steps::new(&search);
    let Next::Probe(plan) = steps.next(Duration::ZERO) else { panic!("{steps:?}") };
    let mut probe = serve(&plan, 4.0);
    probe.summary.status.insert(404, probe.summary.responses);
    let error = steps.add(&probe, String::new()).unwrap_err().to_string();
    assert!(error.contains("was not served as it should be: 50 times status 404"), "{error}");
}

/// Who passes on requests says 502 where a client that asks again at once is too much already, as it is for one that runs out
/// of local ports.
#[test]
fn a_single_client_may_be_too_much() {
    let search = options();
    let mut steps = Steps::new(&search);
    let Next::Probe(plan) = steps.next(Duration::ZERO) else { panic!("{steps:?}") };
    let mut probe = serve(&plan, 4.0);
    probe.summary.status.insert(502, probe.summary.responses * 9 / 10);
    steps.add(&probe, String::new()).unwrap();
    assert!(matches!(steps.next(Duration::ZERO), Next::Probe(_)), "{steps:?}");
    // Who gets nothing else has no server.
    let mut steps = Steps::new(&search);
    probe.summary.status.insert(502, probe.summary.responses);
    // Looked at for longer, too.
    steps.add(&probe, String::new()).unwrap();
    assert!(steps.add(&probe, String::new()).is_err());
}
