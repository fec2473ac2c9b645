use super::*;
use crate::model::{Class, Offered};
use crate::plan::Plan;
use crate::{Discipline, Service};

fn objectives(texts: &[&str]) -> Vec<Objective> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

/// M/M/1 with 10 ms, first come, first served.
fn markov() -> Model {
    Model {
        classes: vec![Class::new("all", 1.0, 0.010)],
        service: Service::Exponential,
        discipline: Discipline::FirstCome,
        threads: 1,
        queue: Some(1000),
        offered: Offered::Load(0.5),
        ..Model::default()
    }
}

fn options(queues: &[u32]) -> AdviceOptions {
    let plan = Plan { requests: 40_000, warmup: Some(2000), ..AdviceOptions::default().plan };
    AdviceOptions { threads: vec![1], queues: queues.to_vec(), plan }
}

#[test]
fn the_largest_load_is_that_of_theory() {
    // Times in the system are exponential of mean 10 ms / (1 - load): p90 is below 100 ms until
    // ln 10 / (1 - load) = 10.
    let advice = advise(&markov(), &objectives(&["p90<100ms"]), &options(&[1000]), &|_, _| ()).unwrap();
    let expected = 1.0 - 10_f64.ln() / 10.0;
    let best = advice.best.as_ref().unwrap();
    assert!((expected - 0.03..expected + 0.005).contains(&best.load), "{} {expected}", best.load);
    assert!((best.rate - best.load * 100.0).abs() < 1e-9);
    assert!(advice.limit_added && advice.now.met);
    assert!(advice.to_string().contains("Admit at most"), "{advice}");
}

#[test]
fn rejection_limits_short_queues() {
    // Without a queue a share of load / (1 + load) is rejected: 5 % at 0.0526; with one place, M/M/1/2 has
    // load^2 / (1 + load + load^2).
    let advice =
        advise(&markov(), &objectives(&["rejected<5%", "p99<10s"]), &options(&[0, 1]), &|_, _| ()).unwrap();
    let loads: Vec<f64> = advice.trials.iter().map(|trial| trial.load).collect();
    assert!(loads[0] < 0.0527 && (0.23..0.26).contains(&loads[1]), "{loads:?}");
    assert!(!advice.limit_added && advice.trials.iter().all(|trial| trial.rejected.ci[1] < 0.05));
    assert_eq!(advice.best.as_ref().and_then(|trial| trial.queue), Some(1));
}

#[test]
fn what_cannot_be_met_is_said() {
    // Nine of ten need up to 23 ms for themselves.
    let advice = advise(&markov(), &objectives(&["p90<20ms"]), &options(&[0, 10]), &|_, _| ()).unwrap();
    assert_eq!(advice.best, None);
    assert!(advice.trials.iter().all(|trial| !trial.met));
    assert!(advice.to_string().contains("Nothing that was tried meets the objectives"), "{advice}");
    let closed = Model { offered: Offered::Clients(5, 1.0), ..markov() };
    assert_eq!(
        advise(&closed, &objectives(&["p90<1s"]), &options(&[0]), &|_, _| ()),
        Err(AdviceError::Closed)
    );
    assert_eq!(advise(&markov(), &[], &options(&[0]), &|_, _| ()), Err(AdviceError::NoObjective));
}

#[test]
fn the_largest_load_is_looked_for_beyond_what_can_be_served() {
    // Of M/M/1/1 a share of load / (1 + load) is rejected: 80 % at a load of 4.
    let few = |objective: &str| {
        let told = std::cell::RefCell::new(Vec::new());
        let tell = |tried, all| told.borrow_mut().push((tried, all));
        let advice = advise(&markov(), &objectives(&[objective]), &options(&[0, 1]), &tell).unwrap();
        assert_eq!(told.into_inner(), [(0, 2), (1, 2)]);
        advice
    };
    let advice = few("rejected<80%");
    assert!((3.8..4.0).contains(&advice.trials[0].load), "{:?}", advice.trials[0]);
    assert!(!advice.trials[0].at_least);
    let advice = few("rejected<100%");
    assert!(advice.trials.iter().all(|trial| trial.at_least), "{advice}");
    let text = advice.to_string();
    assert!(text.contains("set no limit") && !text.contains("Admit at most"), "{text}");
}
