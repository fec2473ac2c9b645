//! [`Effect`]: what a level does to the capacity, against the first level of its factor.

use std::collections::BTreeMap;
use std::fmt;

use record::experiment::{Experiment, OtherFactor, Test, TestState};
use record::search::SearchResult;
use serde::Serialize;
use stats::Estimate;
use stats::significance::{self, holm};

/// The capacity at a level, and how it differs from that at the first.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
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
    /// In how many repeats both this level and the first were measured.
    pub pairs: usize,
    /// Times the capacity at the first level, repeat by repeat; nothing of that itself.
    pub times: Option<Estimate>,
    /// How likely that is by chance, as one of so many; nothing without two pairs.
    pub chance: Option<f64>,
    /// Whether the first level was measured before this one in each pair, or after it in each: then what the machine
    /// does in the course of time would look like the effect.
    pub is_confounded: bool,
    /// What somebody else found.
    pub published: Option<Published>,
    /// Whether it is more or less than at the first.
    pub verdict: Difference,
}

/// How a capacity differs from that at the first level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum Difference {
    /// It is higher.
    More,
    /// It is lower.
    Less,
    /// It may be chance.
    Chance,
    /// It cannot be told.
    #[serde(rename = "")]
    Unknown,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::More => "more",
            Self::Less => "less",
            Self::Chance => "may be chance",
            Self::Unknown => "unknown",
        })
    }
}

/// What somebody else found at a level.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Published {
    /// Where.
    pub source: String,
    /// Times the capacity at the first level.
    pub times: f64,
}

impl Effect {
    /// What is to be said of it; nothing of the first level, and of what may be chance.
    pub(super) fn sentence(&self) -> Option<String> {
        let Self {
            factor,
            beside,
            level,
            times: Some(times),
            verdict: verdict @ (Difference::More | Difference::Less),
            ..
        } = self
        else {
            return None;
        };
        let beside = if beside.is_empty() { String::new() } else { format!(" ({beside})") };
        let percent = (times.value - 1.0).abs() * 100.0;
        Some(format!("{factor} {level}: {percent:.1} % {verdict} than at the first level{beside}."))
    }

    /// What else could have done it.
    pub(super) fn doubt(&self) -> Option<String> {
        let Self { factor, level, is_confounded: true, verdict: Difference::More | Difference::Less, .. } =
            self
        else {
            return None;
        };
        Some(format!(
            "{factor} {level} was measured on the same side of the first level in each repeat; what the machine does in the course of time would look like the effect. More repeats in random order (design.order = \"random\") tell the two apart."
        ))
    }
}

/// What each level does, factor by factor; nothing where nothing was varied.
pub(super) fn of(experiment: &Experiment, known: &[(&Test, SearchResult)]) -> Vec<Effect> {
    let mut effects = Vec::new();
    let mut chances = Vec::new();
    for factor in experiment.others.iter().filter(|factor| factor.levels.len() > 1) {
        let mut groups: BTreeMap<String, BTreeMap<&str, Rates>> = BTreeMap::new();
        for (at, (test, found)) in known.iter().enumerate() {
            if test.state != TestState::Measured {
                continue;
            }
            let (Some(level), Some(capacity)) = (test.settings.get(&factor.label), &found.capacity) else {
                continue;
            };
            let beside = beside(experiment, test, &factor.label);
            let rates = groups.entry(beside).or_default().entry(level).or_default();
            rates.insert(test.repeat, (at, capacity.rate));
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
                let pairs = if number == 0 { Vec::new() } else { paired(first, rates) };
                chances.push(significance::paired(&pairs.iter().map(|pair| pair.ratio).collect::<Vec<_>>()));
                let is_after = |pair: &Pair| pair.is_after;
                effects.push(Effect {
                    factor: factor.label.clone(),
                    beside: beside.clone(),
                    level: level.clone(),
                    capacity: mean(rates.values().map(|(_, rate)| *rate)),
                    repeats: rates.len(),
                    pairs: pairs.len(),
                    times: times(&pairs),
                    chance: None,
                    is_confounded: pairs.iter().all(is_after) || !pairs.iter().any(is_after),
                    published: (number > 0).then(|| published(factor, level)).flatten(),
                    verdict: Difference::Unknown,
                });
            }
        }
    }
    for (effect, chance) in effects.iter_mut().zip(holm(chances)) {
        effect.chance = chance;
        effect.verdict = match (effect.times, chance) {
            (Some(_), Some(chance)) if chance >= significance::LEVEL => Difference::Chance,
            (Some(times), Some(_)) if times.value > 1.0 => Difference::More,
            (Some(_), Some(_)) => Difference::Less,
            _ => Difference::Unknown,
        };
    }
    effects
}

/// By repeat the capacity, and which test of the experiment that was.
type Rates = BTreeMap<u32, (usize, f64)>;

fn mean(values: impl Iterator<Item = f64>) -> Estimate {
    stats::MeanEstimate::of(values).into()
}

/// A level and the first one in the same repeat.
struct Pair {
    /// The logarithm of how many times as much.
    ratio: f64,
    /// Whether the first was measured before it.
    is_after: bool,
}

/// Each capacity beside that of the first level in the same repeat. In random order what the machine does in the course
/// of hours is of either then, and makes no difference.
fn paired(first: &Rates, rates: &Rates) -> Vec<Pair> {
    let pair = |(repeat, (at, rate)): (&u32, &(usize, f64))| {
        let (before, other) = first.get(repeat)?;
        let ratio = (rate / other).ln();
        ratio.is_finite().then_some(Pair { ratio, is_after: before < at })
    };
    rates.iter().filter_map(pair).collect()
}

fn times(pairs: &[Pair]) -> Option<Estimate> {
    if pairs.is_empty() {
        return None;
    }
    let Estimate { value, ci } = mean(pairs.iter().map(|pair| pair.ratio));
    Some(Estimate { value: value.exp(), ci: ci.map(|ci| ci.map(f64::exp)) })
}

/// What was published of a level, against the first.
pub(super) fn published(factor: &OtherFactor, level: &str) -> Option<Published> {
    let record::experiment::Published { source, rates } = factor.published.as_ref()?;
    let times = rates.get(level)? / rates.get(factor.levels.first()?)?;
    Some(Published { source: source.clone(), times })
}

fn beside(experiment: &Experiment, test: &Test, but: &str) -> String {
    let subject = (experiment.subjects.len() > 1).then(|| test.subject.clone());
    let others = test.settings.iter().filter(|(label, _)| *label != but);
    let others = others.map(|(label, level)| format!("{label} {level}"));
    subject.into_iter().chain(others).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use record::experiment::{self, Factor, Server};
    use record::search::Capacity;

    use super::*;

    fn factor(name: &str, levels: &[&str]) -> OtherFactor {
        OtherFactor {
            name: name.to_owned(),
            label: name.to_owned(),
            unit: String::new(),
            levels: levels.iter().copied().map(str::to_owned).collect(),
            published: None,
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
            generator: None,
            limits: vec![],
        }
    }

    fn test(settings: &[(&str, &str)], repeat: u32, state: TestState) -> Test {
        Test {
            directory: String::new(),
            subject: "bare".to_owned(),
            level: 0.0,
            settings: settings
                .iter()
                .map(|(label, level)| ((*label).to_owned(), (*level).to_owned()))
                .collect(),
            repeat,
            offered: 0.0,
            capacity: None,
            state,
            why: vec![],
        }
    }

    fn found(rate: f64) -> SearchResult {
        let capacity = Capacity { rate, ci: [rate; 2], unit: "requests/s".to_owned() };
        SearchResult { capacity: Some(capacity), ..SearchResult::default() }
    }

    #[test]
    fn levels_are_held_against_the_first_of_the_spec() {
        let experiment = experiment(vec![factor("log", &["off", "on"]), factor("size", &["1"])]);
        let of =
            |log: &str, repeat: u32, state: TestState| test(&[("log", log), ("size", "1")], repeat, state);
        // The machine becomes slower; within a repeat the levels differ by as much.
        let tests = [
            (of("on", 1, TestState::Measured), 90.0),
            (of("off", 1, TestState::Measured), 100.0),
            (of("off", 2, TestState::Measured), 80.0),
            (of("on", 2, TestState::Measured), 72.0),
            (of("off", 3, TestState::Measured), 60.0),
            (of("on", 3, TestState::Measured), 54.0),
            (of("on", 4, TestState::NotValid), 1.0),
        ];
        let known: Vec<_> = tests.iter().map(|(test, rate)| (test, found(*rate))).collect();
        let effects = super::of(&experiment, &known);
        let [first, second] = &*effects else { panic!("{effects:?}") };
        assert_eq!((&*first.level, first.times, first.verdict), ("off", None, Difference::Unknown));
        assert_eq!((&*second.level, second.repeats, second.verdict), ("on", 3, Difference::Less));
        let times = second.times.unwrap();
        assert!((times.value - 0.9).abs() < 1e-9 && times.ci.unwrap()[1] < 0.91, "{times:?}");
        assert!(second.chance.unwrap() < 0.001, "{second:?}");
        assert_eq!(second.sentence().unwrap(), "log on: 10.0 % less than at the first level (size 1).");
        assert_eq!((second.doubt(), first.sentence()), (None, None));
    }

    #[test]
    fn drift_is_told_from_an_effect_by_the_order() {
        let experiment = experiment(vec![factor("log", &["off", "on"])]);
        let doubt = |order: [&str; 6]| {
            let test = |(at, log): (usize, &&str)| test(&[("log", log)], at as u32 / 2, TestState::Measured);
            let tests: Vec<Test> = order.iter().enumerate().map(test).collect();
            // Slower and slower.
            let rates = [100.0, 90.0, 81.0, 72.8, 65.6, 59.1];
            let known: Vec<_> = tests.iter().zip(rates).map(|(test, rate)| (test, found(rate))).collect();
            of(&experiment, &known).pop().map(|it| (it.verdict, it.pairs, it.doubt().is_some()))
        };
        assert_eq!(doubt(["off", "on", "off", "on", "off", "on"]), Some((Difference::Less, 3, true)));
        assert_eq!(doubt(["on", "off", "on", "off", "on", "off"]), Some((Difference::More, 3, true)));
        assert_eq!(doubt(["off", "on", "on", "off", "off", "on"]), Some((Difference::Chance, 3, false)));
    }

    #[test]
    fn chance_is_told_from_what_it_is_not() {
        let experiment = experiment(vec![factor("log", &["off", "on"])]);
        let verdict = |rates: &[(&str, u32, f64)]| {
            let test = |level: &str, repeat: u32| test(&[("log", level)], repeat, TestState::Measured);
            let tests: Vec<(Test, f64)> =
                rates.iter().map(|(level, repeat, rate)| (test(level, *repeat), *rate)).collect();
            let known: Vec<_> = tests.iter().map(|(test, rate)| (test, found(*rate))).collect();
            of(&experiment, &known).last().map(|it| (it.verdict, it.chance.is_some(), it.times))
        };
        let all = [("off", 1, 100.0), ("off", 2, 90.0), ("on", 1, 99.0), ("on", 2, 92.0)];
        assert!(matches!(verdict(&all), Some((Difference::Chance, true, Some(_)))));
        let once = [("off", 1, 100.0), ("on", 1, 50.0)];
        assert!(
            matches!(verdict(&once), Some((Difference::Unknown, false, Some(Estimate { ci: None, .. })))),
            "without repeats"
        );
        let apart = [("off", 1, 100.0), ("on", 2, 50.0)];
        assert_eq!(verdict(&apart), Some((Difference::Unknown, false, None)), "nothing to hold it against");
        assert_eq!(verdict(&[("off", 1, 100.0), ("off", 2, 99.0)]), None, "one level");
    }

    #[test]
    fn what_was_published_is_of_the_first_level_too() {
        let rates = [("1", 7300.0), ("2", 9600.0)];
        let published = experiment::Published {
            source: "elsewhere".to_owned(),
            rates: rates.map(|(level, rate)| (level.to_owned(), rate)).into(),
        };
        let known = OtherFactor { published: Some(published), ..factor("reuse", &["1", "2", "4"]) };
        assert_eq!(published_of(&known, &["1", "2", "4"]), [Some(1.0), Some(9600.0 / 7300.0), None]);
        let backwards = OtherFactor { published: known.published, ..factor("reuse", &["4", "2"]) };
        assert_eq!(published_of(&backwards, &["2"]), [None], "nothing is known of the first");
        assert_eq!(published_of(&factor("reuse", &["1"]), &["1"]), [None]);
    }

    fn published_of(factor: &OtherFactor, levels: &[&str]) -> Vec<Option<f64>> {
        levels.iter().map(|level| published(factor, level).map(|published| published.times)).collect()
    }
}
