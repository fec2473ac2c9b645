use policy::{Config, Deadlines, Limits, Window};
use units::{ClassId, Span};

use super::*;
use crate::model::Offered;
use crate::subject::GateConnections;

/// The paper's server with short requests, at three times what it can serve.
fn model() -> Model {
    let classes = Model::paper_classes(0.2, 10.0, 0.005);
    Model { offered: Offered::Load(3.0), classes, queue: Some(5), ..Model::default() }
}

/// A fifth of the requests are known as premium; the rules say basic of all.
fn gate() -> ModelGate {
    let limits = Limits { deadlines: Deadlines::all(Span::from_millis(500)), ..Limits::default() };
    let knobs = Knobs { differentiation: Ratio::ZERO, favour: Ratio::ZERO };
    ModelGate {
        policy: Config { knobs, limits, window: Window::Fixed(25), ..Config::default() },
        names: vec!["premium".to_owned(), "basic".to_owned()],
        classes: vec![ClassId(1); 2],
        known: 0.2,
        cost: 0.0,
        connections: GateConnections::default(),
    }
}

fn shares(shares: &[f64]) -> Vec<Ratio> {
    shares.iter().copied().map(Ratio::clamped).collect()
}

fn ask_of(
    gate: &ModelGate,
    objectives: &[&str],
    differentiation: &[f64],
    favour: &[f64],
) -> Result<KnobAdvice, AdviceError> {
    let objectives: Vec<Objective> = objectives.iter().map(|text| text.parse().unwrap()).collect();
    let plan = Plan {
        seed: 7,
        requests: 4000,
        warmup: Some(400),
        replications: 8,
        precision: None,
        ..Plan::default()
    };
    let options = KnobOptions { differentiation: shares(differentiation), favour: shares(favour), plan };
    advise_knobs(gate, &model(), &objectives, &options, &|_, _| ())
}

fn ask(objectives: &[&str], differentiation: &[f64], favour: &[f64]) -> KnobAdvice {
    ask_of(&gate(), objectives, differentiation, favour).unwrap()
}

#[test]
fn differentiation_is_what_the_important_need() {
    let advice = ask(&["premium:rejected<10%"], &[1.0, 0.0], &[0.5]);
    let met: Vec<_> = advice.trials.iter().map(|trial| (trial.differentiation, trial.met)).collect();
    assert_eq!(met, [(0.0, false), (1.0, true)], "{advice}");
    assert_eq!(advice.best.as_ref(), advice.trials.last());
    assert!(!advice.now.met && advice.load.is_some_and(|load| (load - 3.0).abs() < 1e-9));
    let [figure, rejected] = [&advice.trials[1].figures[0], &advice.trials[1].rejected];
    assert!(figure.mean < 0.1 && rejected.mean > 0.6, "the class alone counts: {advice}");
    assert!(advice.to_string().contains("Set differentiation to 1 and favour to 0.5"), "{advice}");
}

#[test]
fn favour_buys_latency() {
    // Waits in the class queues aim at a tenth, and at four fifths, of half a second.
    let advice = ask(&["basic:p50<550ms"], &[1.0], &[0.0, 1.0]);
    let [fast, many] = [&advice.trials[0], &advice.trials[1]];
    assert!(fast.classes[1].latency.p50.mean < many.classes[1].latency.p50.mean, "{advice}");
    assert!(fast.met && !many.met, "{advice}");
    assert_eq!(advice.best.as_ref(), Some(fast));
    assert!(!advice.to_string().contains("makes no difference"), "{advice}");
}

#[test]
fn the_important_come_first_and_then_the_gentlest_knobs() {
    let advice = ask(&["rejected<90%"], &[0.0, 0.9, 1.0], &[0.5]);
    assert!(advice.trials.iter().all(|trial| trial.met), "{advice}");
    let served = |trial: &KnobTrial| trial.classes[0].throughput.mean;
    let best = advice.best.as_ref().unwrap();
    assert!(served(best) > served(&advice.trials[0]) * 1.1, "{advice}");
    let gentler = advice.trials.iter().filter(|trial| trial.differentiation < best.differentiation);
    let enough = served(best) * (1.0 - AS_MANY);
    assert!(gentler.into_iter().all(|trial| served(trial) < enough), "{advice}");
}

#[test]
fn own_knobs_are_tried_with_the_usual_ones() {
    assert_eq!(or_default(&[], &FAVOUR, Ratio::clamped(0.7)), shares(&[0.0, 0.5, 0.7, 1.0]));
    assert_eq!(or_default(&shares(&[0.4, 0.4]), &FAVOUR, Ratio::ONE), shares(&[0.4]));
}

#[test]
fn targets_of_the_classes_leave_favour_nothing_to_set() {
    let mut gate = gate();
    gate.policy.classes.iter_mut().for_each(|class| class.target_queue = Some(10));
    let advice = ask_of(&gate, &["rejected<90%"], &[1.0], &[0.0, 1.0]).unwrap();
    assert!(advice.to_string().contains("Favour makes no difference"), "{advice}");
}

#[test]
fn what_cannot_be_had_is_said() {
    let advice = ask(&["rejected<40%"], &[0.0, 1.0], &[0.5]);
    assert_eq!(advice.best, None);
    assert!(advice.to_string().contains("No pair of knobs that was tried"), "{advice}");
    let known = "premium, basic".to_owned();
    let unknown = ask_of(&gate(), &["gold:p90<1s"], &[1.0], &[0.5]);
    assert_eq!(unknown, Err(AdviceError::UnknownClass { class: "gold".to_owned(), known }));
    let nobody = ModelGate { known: 0.0, ..gate() };
    let empty = ask_of(&nobody, &["premium:p90<1s"], &[1.0], &[0.5]);
    assert_eq!(empty, Err(AdviceError::EmptyClass("premium".to_owned())));
    assert_eq!(ask_of(&gate(), &[], &[1.0], &[0.5]), Err(AdviceError::NoObjective));
    let bare = crate::advise::advise(
        &model(),
        &["premium:p90<1s".parse().unwrap()],
        &AdviceOptions::default(),
        &|_, _| (),
    );
    assert_eq!(bare, Err(AdviceError::NoGate("premium:p90<1s".to_owned())));
}
