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
