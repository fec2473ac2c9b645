//! The tests of an experiment, in the order in which they are done.

use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;

use crate::spec::{Order, Spec, Subject};

/// A test that is to be done.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Planned {
    /// From the experiment's directory.
    pub(crate) directory: String,
    pub(crate) subject: Subject,
    pub(crate) level: f64,
    pub(crate) repeat: u32,
    /// The same for all subjects of a level and repeat: they are offered the same arrivals, so
    /// that what differs is not the draw.
    pub(crate) seed: u64,
}

/// Lays out the tests. The same spec and seed give the same plan.
pub(crate) fn plan(spec: &Spec, seed: u64) -> Vec<Planned> {
    let mut random = StdRng::seed_from_u64(seed);
    let mut tests = Vec::new();
    for repeat in 1..=spec.repeats {
        let mut round: Vec<Planned> = (1..)
            .zip(&spec.levels)
            .flat_map(|(number, &level)| {
                let seed = seed.wrapping_add(u64::from(repeat) * 1000 + number);
                let directory = String::new();
                spec.subjects.iter().map(move |&subject| Planned {
                    directory: directory.clone(),
                    subject,
                    level,
                    repeat,
                    seed,
                })
            })
            .collect();
        if spec.order == Order::Random {
            round.shuffle(&mut random);
        }
        tests.append(&mut round);
    }
    for (number, test) in (1..).zip(&mut tests) {
        test.directory = format!("tests/{number:02}-{}-{}", test.subject.name(), test.level);
    }
    tests
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(order: &str) -> Spec {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("spec.toml");
        let text = format!(
            r#"
            experiment.title = "Plan"
            server.kind = "origin"
            workload = {{ kind = "sessions", page = [{{ url = "/" }}] }}
            gate = {{}}
            factor = [{{ name = "load", levels = [0.7, 1, 2, 3] }}]
            design = {{ repeats = 2, order = "{order}" }}
            test = {{ warmup = "1s", duration = "1s" }}
            capacity.rate = 8
            "#
        );
        std::fs::write(&file, text).unwrap();
        Spec::read(&file, &[]).unwrap()
    }

    #[test]
    fn subjects_stand_side_by_side_and_are_offered_the_same() {
        let tests = plan(&spec("given"), 1);
        let names: Vec<&str> = tests.iter().map(|test| &*test.directory).collect();
        assert_eq!(
            names[..4],
            ["tests/01-bare-0.7", "tests/02-gate-0.7", "tests/03-bare-1", "tests/04-gate-1"]
        );
        assert_eq!(names[8], "tests/09-bare-0.7");
        for pair in tests.chunks(2) {
            assert_eq!(
                (pair[0].level, pair[0].repeat, pair[0].seed),
                (pair[1].level, pair[1].repeat, pair[1].seed)
            );
        }
        let mut seeds: Vec<u64> = tests.iter().map(|test| test.seed).collect();
        seeds.dedup();
        assert_eq!(seeds.len(), 8, "another draw for each level and repeat");
    }

    #[test]
    fn a_random_order_has_every_test_once_in_each_repeat() {
        let (given, random) = (plan(&spec("given"), 1), plan(&spec("random"), 1));
        assert_eq!(random, plan(&spec("random"), 1), "the seed decides");
        let key = |test: &Planned| (test.repeat, test.level.to_bits(), test.subject.name());
        assert_ne!(given.iter().map(key).collect::<Vec<_>>(), random.iter().map(key).collect::<Vec<_>>());
        for (given, random) in given.chunks(8).zip(random.chunks(8)) {
            let (mut given, mut random): (Vec<_>, Vec<_>) =
                (given.iter().map(key).collect(), random.iter().map(key).collect());
            given.sort_unstable();
            random.sort_unstable();
            assert_eq!(given, random);
        }
    }
}
