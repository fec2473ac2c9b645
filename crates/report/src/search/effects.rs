//! [`Effect`]: what a level does to the capacity, against the first level of its factor.

use std::collections::BTreeMap;

use record::experiment::{Experiment, Test, TestState};
use record::search::Found;
use record::significance::{self, holm, welch};
use serde::Serialize;

use crate::Estimate;

/// The capacity at a level, and how it differs from that at the first.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Effect {
    /// What was varied, such as `server workers`.
    pub factor: String,
    /// Subject and the levels of all else; empty where there is nothing else.
    pub beside: String,
    /// Which level.
    pub level: String,
    /// The mean over repeats.
    pub capacity: Estimate,
    /// How many of them.
    pub repeats: usize,
    /// Times the capacity at the first level; nothing of that itself.
    pub times: Option<f64>,
    /// How likely that is by chance, as one of so many; nothing where there are no repeats.
    pub chance: Option<f64>,
    /// In a word: `more`, `less`, `chance` where it may be that, or nothing where it cannot be told.
    pub verdict: &'static str,
}

impl Effect {
    /// What is to be said of it; nothing of the first level, and of what may be chance.
    pub(super) fn sentence(&self) -> Option<String> {
        let Self { factor, beside, level, times: Some(times), verdict: verdict @ ("more" | "less"), .. } =
            self
        else {
            return None;
        };
        let beside = if beside.is_empty() { String::new() } else { format!(" ({beside})") };
        let percent = (times - 1.0).abs() * 100.0;
        Some(format!("{factor} {level}: {percent:.1} % {verdict} than at the first level{beside}."))
    }
}

/// What each level does, factor by factor; nothing where nothing was varied.
pub(super) fn of(experiment: &Experiment, known: &[(&Test, Found)]) -> Vec<Effect> {
    let mut effects = Vec::new();
    let mut pairs = Vec::new();
    for factor in experiment.others.iter().filter(|factor| factor.levels.len() > 1) {
        let mut groups: BTreeMap<String, BTreeMap<&str, Vec<f64>>> = BTreeMap::new();
        for (test, found) in known.iter().filter(|(test, _)| test.state == TestState::Measured) {
            let (Some(level), Some(capacity)) = (test.settings.get(&factor.label), &found.capacity) else {
                continue;
            };
            let beside = beside(experiment, test, &factor.label);
            groups.entry(beside).or_default().entry(level).or_default().push(capacity.rate);
        }
        for (beside, levels) in groups {
            // One alone says nothing, and all others are held against the first.
            let Some(first) = factor.levels.first().and_then(|level| levels.get(&**level)) else { continue };
            if levels.len() < 2 {
                continue;
            }
            // In the order of the spec.
            let known = factor.levels.iter().filter_map(|level| Some((level, levels.get(&**level)?)));
            for (number, (level, rates)) in known.enumerate() {
                let estimate = record::Estimate::of(rates.iter().copied());
                let ci = estimate.ci.iter().all(|end| end.is_finite()).then_some(estimate.ci);
                let is_first = number == 0;
                pairs.push(if is_first { None } else { welch(first, rates) });
                effects.push(Effect {
                    factor: factor.label.clone(),
                    beside: beside.clone(),
                    level: level.clone(),
                    capacity: Estimate { value: estimate.mean, ci },
                    repeats: rates.len(),
                    times: (!is_first)
                        .then(|| estimate.mean / record::Estimate::of(first.iter().copied()).mean),
                    chance: None,
                    verdict: "",
                });
            }
        }
    }
    for (effect, chance) in effects.iter_mut().zip(holm(pairs)) {
        effect.chance = chance;
        effect.verdict = match (effect.times, chance) {
            (Some(_), Some(chance)) if chance >= significance::LEVEL => "chance",
            (Some(times), Some(_)) if times > 1.0 => "more",
            (Some(_), Some(_)) => "less",
            _ => "",
        };
    }
    effects
}

fn beside(experiment: &Experiment, test: &Test, but: &str) -> String {
    let subject = (experiment.subjects.len() > 1).then(|| test.subject.clone());
    let others = test.settings.iter().filter(|(label, _)| *label != but);
    let others = others.map(|(label, level)| format!("{label} {level}"));
    subject.into_iter().chain(others).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use record::experiment::{Factor, OtherFactor, Server};
    use record::search::Capacity;

    use super::*;

    fn factor(name: &str, levels: &[&str]) -> OtherFactor {
        OtherFactor {
            name: name.to_owned(),
            label: name.to_owned(),
            unit: String::new(),
            levels: levels.iter().copied().map(str::to_owned).collect(),
        }
    }

    fn experiment(others: Vec<OtherFactor>) -> Experiment {
        Experiment {
            title: String::new(),
            seed: 1,
            started: "2001-02-03T04:05:06Z".parse().unwrap(),
            ended: None,
            interrupted: false,
            version: String::new(),
            command: vec![],
            server: Server { kind: "origin".to_owned(), version: String::new() },
            factor: Factor { name: String::new(), unit: String::new(), levels: vec![] },
            others,
            subjects: vec!["bare".to_owned()],
            classes: vec![],
            capacity: None,
            tests: vec![],
        }
    }

    fn test(settings: &[(&str, &str)], state: TestState) -> Test {
        Test {
            directory: String::new(),
            subject: "bare".to_owned(),
            level: 0.0,
            settings: settings
                .iter()
                .map(|(label, level)| ((*label).to_owned(), (*level).to_owned()))
                .collect(),
            repeat: 1,
            offered: 0.0,
            knee: None,
            state,
            why: vec![],
        }
    }

    fn found(rate: f64) -> Found {
        let capacity = Capacity { rate, ci: [rate; 2], unit: "requests/s".to_owned() };
        Found { capacity: Some(capacity), ..Found::default() }
    }

    #[test]
    fn levels_are_held_against_the_first_of_the_spec() {
        let experiment = experiment(vec![factor("log", &["off", "on"]), factor("size", &["1"])]);
        let on = test(&[("log", "on"), ("size", "1")], TestState::Measured);
        let off = test(&[("log", "off"), ("size", "1")], TestState::Measured);
        let broken = test(&[("log", "on"), ("size", "1")], TestState::NotValid);
        let rates = [
            (&on, 90.0),
            (&off, 100.0),
            (&off, 101.0),
            (&on, 91.0),
            (&off, 99.0),
            (&on, 89.0),
            (&broken, 1.0),
        ];
        let known: Vec<_> = rates.iter().map(|(test, rate)| (*test, found(*rate))).collect();
        let effects = of(&experiment, &known);
        let [first, second] = &*effects else { panic!("{effects:?}") };
        assert_eq!((&*first.level, first.times, first.verdict), ("off", None, ""));
        assert_eq!((&*second.level, second.repeats, second.verdict), ("on", 3, "less"));
        assert!((second.times.unwrap() - 0.9).abs() < 1e-9);
        assert!(second.chance.unwrap() < 0.001, "{second:?}");
        assert_eq!(second.sentence().unwrap(), "log on: 10.0 % less than at the first level (size 1).");
        assert_eq!(first.sentence(), None);
    }

    #[test]
    fn chance_is_told_from_what_it_is_not() {
        let experiment = experiment(vec![factor("log", &["off", "on"])]);
        let [off, on] = ["off", "on"].map(|level| test(&[("log", level)], TestState::Measured));
        let verdict = |rates: &[(&Test, f64)]| {
            let known: Vec<_> = rates.iter().map(|(test, rate)| (*test, found(*rate))).collect();
            of(&experiment, &known).last().map(|effect| (effect.verdict, effect.chance.is_some()))
        };
        assert_eq!(verdict(&[(&off, 100.0), (&off, 90.0), (&on, 99.0), (&on, 92.0)]), Some(("chance", true)));
        assert_eq!(verdict(&[(&off, 100.0), (&on, 50.0)]), Some(("", false)), "without repeats");
        assert_eq!(verdict(&[(&off, 100.0), (&off, 99.0)]), None, "one level");
    }
}
