//! The tests of an experiment, in the order in which they are done.

use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use toml::Value;

use crate::error::Error;
use crate::spec::design::Order;
use crate::spec::experiment::Spec;
use crate::spec::factors::{self, combinations};
use crate::spec::subject::Subject;

/// A test that is to be done.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Planned {
    /// From the experiment's directory.
    pub(crate) directory: String,
    pub(crate) subject: Subject,
    /// Of the first factor.
    pub(crate) level: f64,
    /// Multiple of the capacity.
    pub(crate) load: f64,
    /// Of the factors that this subject knows: label and level in words.
    pub(crate) levels: Vec<(String, String)>,
    /// The gate's own settings for this test.
    pub(crate) settings: Vec<(String, Value)>,
    /// Values of the spec that are this test's own, by their places in it.
    pub(crate) own: Vec<(String, Value)>,
    pub(crate) repeat: u32,
    /// The same for all that is compared at a load and repeat: they are offered the same arrivals,
    /// so that what differs is not the draw.
    pub(crate) seed: u64,
}

impl Planned {
    /// The spec with what is this test's own.
    pub(crate) fn spec(&self, spec: &Spec) -> Result<Spec, Error> {
        spec.with(&self.own).map_err(|why| {
            let levels: Vec<String> =
                self.own.iter().map(|(name, level)| format!("{name} = {level}")).collect();
            Error::Levels { levels: levels.join(", "), why }
        })
    }

    /// The levels of the factors other than the first.
    pub(crate) fn others(&self) -> impl Iterator<Item = &(String, String)> {
        self.levels.iter().skip(1)
    }

    /// What it is called on a screen: `gate at 3x, look-ahead 4`.
    pub(crate) fn name(&self) -> String {
        let words = |(label, level): &(String, String)| match &**label {
            "load" => format!("{level}x"),
            _ => format!("{label} {level}"),
        };
        let levels: Vec<String> = self.levels.iter().map(words).collect();
        if levels.is_empty() {
            return self.subject.name().to_owned();
        }
        format!("{} at {}", self.subject.name(), levels.join(", "))
    }
}

/// Lays out the tests. The same spec and seed give the same plan.
pub(crate) fn plan(spec: &Spec, seed: u64) -> Vec<Planned> {
    let mut random = StdRng::seed_from_u64(seed);
    let mut tests = Vec::new();
    for repeat in 1..=spec.repeats {
        let mut round: Vec<Planned> = Vec::new();
        for combination in combinations(&spec.factors, spec.combinations, !spec.is_search()) {
            for &subject in &spec.subjects {
                let test = planned(spec, &combination, subject, repeat, seed);
                // Settings of the gate make no other test of what has no gate.
                if !round.contains(&test) {
                    round.push(test);
                }
            }
        }
        if spec.order == Order::Random {
            round.shuffle(&mut random);
        }
        tests.append(&mut round);
    }
    for (number, test) in (1..).zip(&mut tests) {
        test.directory = format!("tests/{number:02}-{}{}", test.subject.name(), suffix(test));
    }
    tests
}

fn planned(spec: &Spec, combination: &[usize], subject: Subject, repeat: u32, seed: u64) -> Planned {
    let mut test = Planned {
        directory: String::new(),
        subject,
        level: 0.0,
        load: 0.0,
        levels: Vec::new(),
        settings: Vec::new(),
        own: Vec::new(),
        repeat,
        seed: seed.wrapping_add(u64::from(repeat) * 1000),
    };
    for (index, (factor, &number)) in spec.factors.iter().zip(combination).enumerate() {
        let Some(level) = factor.levels.get(number) else { continue };
        let value = factors::number(level).unwrap_or_default();
        if index == 0 {
            test.level = value;
        }
        if factor.is_load() {
            test.load = value;
            test.seed = seed.wrapping_add(u64::from(repeat) * 1000 + number as u64 + 1);
        } else if let Some(key) = factor.gate_key().filter(|_| subject.has_gate()) {
            test.settings.push((key.to_owned(), level.clone()));
        } else if factor.is_of_spec() {
            test.own.push((factor.name.clone(), level.clone()));
        } else {
            continue;
        }
        // What has one level tells no two tests apart.
        if index == 0 || factor.levels.len() > 1 {
            test.levels.push((factor.label(), factors::words(level)));
        }
    }
    test
}

/// The levels as part of a directory's name: `-3-look-ahead-4`.
fn suffix(test: &Planned) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' };
    let part = |(index, (label, level)): (usize, &(String, String))| {
        let name = if index == 0 && label == "load" { String::new() } else { format!("{label}-") };
        format!("-{name}{level}").chars().map(plain).collect::<String>()
    };
    test.levels.iter().enumerate().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(order: &str) -> Spec {
        with(order, "factor = [{ name = \"load\", levels = [0.7, 1, 2, 3] }]", "")
    }

    fn with(order: &str, factors: &str, design: &str) -> Spec {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("spec.toml");
        let text = format!(
            r#"
            experiment.title = "Plan"
            server.kind = "origin"
            workload = {{ kind = "sessions", page = [{{ url = "/" }}] }}
            gate = {{}}
            {factors}
            design = {{ repeats = 2, order = "{order}" {design} }}
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

    const KNOBS: &str = r#"factor = [
        { name = "load", levels = [1, 3] },
        { name = "gate.look-ahead", levels = [1, "auto"], default = "auto" },
        { name = "gate.favour", levels = [0, 0.5, 1], default = 0.5 },
    ]"#;

    #[test]
    fn every_combination_is_a_test_of_the_gate_and_the_bare_server_has_none() {
        let tests = plan(&with("given", KNOBS, ""), 1);
        let names: Vec<&str> = tests.iter().map(|test| &*test.directory).collect();
        assert_eq!(names.len(), 2 * 2 * (1 + 2 * 3));
        assert_eq!(
            names[..4],
            [
                "tests/01-bare-1",
                "tests/02-gate-1-look-ahead-1-favour-0",
                "tests/03-gate-1-look-ahead-1-favour-0.5",
                "tests/04-gate-1-look-ahead-1-favour-1",
            ]
        );
        assert_eq!((names[4], names[7]), ("tests/05-gate-1-look-ahead-auto-favour-0", "tests/08-bare-3"));
        assert_eq!(tests[1].name(), "gate at 1x, look-ahead 1, favour 0");
        assert_eq!(tests[1].settings[0], ("look-ahead".to_owned(), Value::Integer(1)));
        assert!(tests[..7].iter().all(|test| test.seed == tests[0].seed), "the same arrivals at a load");
        assert_ne!(tests[0].seed, tests[7].seed);
    }

    #[test]
    fn one_at_a_time_leaves_one_default_at_a_time() {
        let tests = plan(&with("given", KNOBS, ", kind = \"one-at-a-time\", subjects = [\"gate\"]"), 1);
        let names: Vec<String> = tests.iter().take(5).map(Planned::name).collect();
        assert_eq!(
            names,
            [
                "gate at 1x, look-ahead auto, favour 0.5",
                "gate at 1x, look-ahead 1, favour 0.5",
                "gate at 1x, look-ahead auto, favour 0",
                "gate at 1x, look-ahead auto, favour 1",
                "gate at 3x, look-ahead auto, favour 0.5",
            ]
        );
    }

    #[test]
    fn a_knob_can_be_the_axis() {
        let factors =
            "factor = [{ name = \"gate.favour\", levels = [0, 0.5] }, { name = \"load\", levels = [3] }]";
        let tests = plan(&with("given", factors, ""), 1);
        assert_eq!(tests[1].directory, "tests/02-gate-favour-0.5");
        assert_eq!((tests[1].level, tests[1].load, tests[1].others().count()), (0.5, 3.0, 0));
        assert_eq!(tests[0].seed, tests[1].seed, "the same arrivals at every setting");
    }

    #[test]
    fn the_project_s_own_specs_can_be_read() {
        let mut directories =
            vec![std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments")];
        let mut count = 0;
        while let Some(directory) = directories.pop() {
            for entry in std::fs::read_dir(directory).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    directories.push(path);
                } else if path.extension().is_some_and(|extension| extension == "toml")
                    && std::fs::read_to_string(&path).unwrap().contains("[experiment]")
                {
                    let spec = Spec::read(&path, &[]).unwrap_or_else(|why| panic!("{why}"));
                    for planned in plan(&spec, 1) {
                        planned.spec(&spec).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
                    }
                    count += 1;
                }
            }
        }
        assert!(count > 20, "{count}");
    }
}
