//! What is compared, by name: a subject, or one with settings of its own.

use record::experiment::{Experiment, OtherFactor, Test};

/// What a test is of: `bare`, `gate`, or `gate, look-ahead 4` where look-ahead was varied.
pub(crate) fn of(experiment: &Experiment, test: &Test) -> String {
    let varied = experiment.others.iter().filter(|factor| factor.levels.len() > 1);
    let settings = varied.filter_map(|factor| {
        let level = test.settings.get(&factor.label)?;
        Some(match factor.unit.strip_prefix("x ") {
            Some(of) => format!(", {level}× {of}"),
            None => format!(", {} {level} {}", factor.label, factor.unit).trim_end().to_owned(),
        })
    });
    std::iter::once(test.subject.clone()).chain(settings).collect()
}

/// All of them, subjects in the experiment's order, settings in that of their levels.
pub(crate) fn all(experiment: &Experiment) -> Vec<String> {
    let level = |test: &Test, factor: &OtherFactor| {
        let level = test.settings.get(&factor.label)?;
        factor.levels.iter().position(|other| other == level)
    };
    let levels = |test: &Test| experiment.others.iter().map(|factor| level(test, factor)).collect();
    let names = |subject: &String| {
        let mut tests: Vec<(Vec<Option<usize>>, &Test)> = (experiment.tests.iter())
            .filter(|test| test.subject == *subject)
            .map(|test| (levels(test), test))
            .collect();
        tests.sort_by(|(one, _), (other, _)| one.cmp(other));
        let mut names: Vec<String> = tests.into_iter().map(|(_, test)| of(experiment, test)).collect();
        names.dedup();
        // A subject that has not been tested yet is shown, too.
        if names.is_empty() { vec![subject.clone()] } else { names }
    };
    experiment.subjects.iter().flat_map(names).collect()
}
