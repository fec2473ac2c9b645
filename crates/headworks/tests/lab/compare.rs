//! `headworks lab run DIR/run.toml`, which repeats an experiment, and `headworks lab compare`, as processes.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use record::RunDirectory;
use record::experiment::{Experiment, Test, TestState};
use serde_json::{Value, json};
use testkit::Machine;

use super::{HEADWORKS, text};

const WORKLOAD: &str = r#"
kind = "sessions"
[[page]]
url = "/burn?cpu=1ms"
"#;

/// Two loads, three times each, in random order; what is asked for takes 1 ms of a processor.
const SPEC: &str = r#"
[experiment]
title = "In miniature"
[server]
kind = "origin"
[workload]
file = "workload.toml"
[capacity]
rate = 300
[[factor]]
name = "load"
levels = [0.3, 0.6]
[design]
repeats = 3
order = "random"
[test]
warmup = "100ms"
duration = "500ms"
settle = "100ms"
"#;

fn lab(arguments: &[&str], directory: &Path) -> Output {
    Command::new(HEADWORKS).arg("lab").args(arguments).current_dir(directory).output().unwrap()
}

/// How long a test of [`SPEC`] starts requests that count, in nanoseconds from its start. Load is kept up after
/// that for as long as the last of them take, which depends on the machine.
const WINDOW_NS: u64 = 600_000_000;

/// When requests were to begin that are within the window, test by test.
fn schedules(directory: &Path) -> Vec<(String, Vec<u64>)> {
    let experiment = Experiment::load(directory).unwrap();
    let schedule = |directory: &Path| {
        let requests = RunDirectory::open(directory).unwrap().requests().unwrap();
        let mut schedule: Vec<u64> = requests.map(|row| row.unwrap().intended.as_nanos()).collect();
        schedule.retain(|intended| *intended < WINDOW_NS);
        schedule.sort_unstable();
        schedule
    };
    let tests = experiment.tests.iter();
    tests.map(|test| (test.directory.clone(), schedule(&directory.join(&test.directory)))).collect()
}

/// Mean latencies, in seconds, of the tests at this load that count.
fn latencies(directory: &Path, load: f64) -> Vec<f64> {
    let experiment = Experiment::load(directory).unwrap();
    let tests = experiment.tests.iter().filter(|test| test.level == load);
    let counted = tests.filter(|test| test.state == TestState::Measured);
    let mean = |test: &Test| {
        let run = RunDirectory::open(directory.join(&test.directory)).unwrap();
        let all: Vec<f64> = run.requests().unwrap().map(|row| row.unwrap().latency().as_secs_f64()).collect();
        all.iter().sum::<f64>() / all.len() as f64
    };
    counted.map(mean).collect()
}

#[test]
fn an_experiment_is_repeated_from_its_record_and_compared() {
    let _machine = Machine::shared();
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    fs::write(place.join("spec.toml"), SPEC).unwrap();
    fs::write(place.join("workload.toml"), WORKLOAD).unwrap();
    fs::write(place.join("slow.toml"), WORKLOAD.replace("/burn?cpu=1ms", "/delay?before=300ms")).unwrap();
    // A busy machine makes a generator late, which does not count here.
    let ran = |arguments: &[&str]| {
        let output = lab(arguments, place);
        assert!(matches!(output.status.code(), Some(0 | 4)), "{}", text(&output.stderr));
    };
    let title = "experiment.title=Of mine";
    ran(&["run", "spec.toml", "--quiet", "--seed", "5", "--set", title, "--out", "first"]);
    ran(&["run", "first/run.toml", "--quiet", "--out", "again"]);
    let (first, again) =
        (Experiment::load(&place.join("first")).unwrap(), Experiment::load(&place.join("again")).unwrap());
    assert_eq!((again.seed, &*again.title), (5, "Of mine"));
    assert_eq!(first.tests.len(), 6);
    assert_eq!(schedules(&place.join("again")), schedules(&place.join("first")));

    let loads = [0.3, 0.6];
    let before = |load| latencies(&place.join("first"), load);
    // What counts in both at no load cannot be compared.
    let is_left_in_peace = |run: &str| {
        let counts = |run: &str, load| !latencies(&place.join(run), load).is_empty();
        let is = loads.iter().any(|load| counts("first", *load) && counts(run, *load));
        if !is {
            eprintln!("not judged: the machine did not leave the generator in peace");
        }
        is
    };
    if !is_left_in_peace("first") {
        return;
    }
    // With itself it is the same in everything.
    let same = lab(&["compare", "first", "first"], place);
    let said = text(&same.stdout);
    assert_eq!(same.status.code(), Some(0), "{said}{}", text(&same.stderr));
    assert!(said.ends_with("They do not differ by more than chance explains.\n"), "{said}");
    for load in loads {
        let name = format!("bare at load {load}: mean latency");
        assert_eq!(said.contains(&name), !before(load).is_empty(), "{said}");
    }

    // What takes a hundred times as long is found to, where the machine left three repeats that count, in peace.
    ran(&["run", "first/run.toml", "--quiet", "--set", "workload.file=../slow.toml", "--out", "slower"]);
    if !is_left_in_peace("slower") {
        return;
    }
    let worse = lab(&["compare", "first", "slower", "--json"], place);
    let said: Value =
        serde_json::from_slice(&worse.stdout).unwrap_or_else(|why| panic!("{why}: {}", text(&worse.stderr)));
    for load in loads {
        let (before, after) = (before(load), latencies(&place.join("slower"), load));
        let in_peace = |all: &[f64], bound: f64| all.len() == 3 && all.iter().all(|mean| *mean < bound);
        if !in_peace(&before, 0.02) || !in_peace(&after, 0.35) {
            eprintln!("not judged at load {load}: the machine did not leave the generator in peace");
            continue;
        }
        let name = format!("bare at load {load}: mean latency");
        let all = said["differences"].as_array().unwrap();
        let latency = all.iter().find(|it| it["name"] == name.as_str()).unwrap_or_else(|| panic!("{said:#}"));
        assert!(latency["after"].as_f64().unwrap() >= 0.3, "{latency:#}");
        assert_eq!(latency["is_worse"], true, "{latency:#}");
        assert_eq!(worse.status.code(), Some(3), "{said:#}");
    }
}

#[test]
fn what_cannot_be_compared_is_said() {
    let place = tempfile::tempdir().unwrap();
    fs::create_dir(place.path().join("empty")).unwrap();
    for arguments in [["compare", "empty", "empty"], ["compare", "nowhere", "empty"]] {
        let output = lab(&arguments, place.path());
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(arguments[1]), "{said}");
    }
}

/// An experiment of a day, with one search that has found this capacity.
fn searched(place: &Path, name: &str, day: u32, rate: f64) {
    let test = json!({
        "directory": "tests/01-bare", "subject": "bare", "level": 0.0, "repeat": 1, "offered": 0.0,
        "knee": { "rate": rate, "ci": [0.98 * rate, 1.02 * rate], "unit": "requests/s", "bottleneck": null,
            "confidence": 0.0, "directory": "search" },
        "state": "measured", "why": [],
    });
    let experiment = json!({
        "title": "Nightly", "started": format!("2026-01-{day:02}T03:00:00Z"), "ended": null,
        "interrupted": false, "version": "0", "command": [], "server": { "kind": "origin", "version": "0" },
        "factor": { "name": "", "unit": "", "levels": [] }, "subjects": ["bare"], "classes": [],
        "capacity": null, "tests": [test],
    });
    let directory = place.join(name);
    fs::create_dir_all(&directory).unwrap();
    fs::write(directory.join("experiment.json"), experiment.to_string()).unwrap();
}

/// Of nights of which some are better than others by a per cent or so, and one release that cost a tenth.
#[test]
fn new_records_are_compared_with_what_a_series_has_come_to() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    let noise = [1.0, -0.5, 0.25, -1.0, 0.75, 0.5, -0.25, -0.75, 0.0, 1.0];
    for (night, noise) in (1..).zip(noise) {
        let rate = if night <= 4 { 1100.0 } else { 1000.0 };
        // Names are in another order than nights.
        searched(place, &format!("nightly/{:02}", 20 - night), night, rate * (1.0 + noise / 100.0));
    }
    fs::create_dir(place.join("nightly/else")).unwrap();
    searched(place, "as-ever", 20, 1004.0);
    searched(place, "slower", 20, 950.0);
    let compared = |arguments: &[&str]| {
        let output = lab(&[&["compare", "--baseline", "nightly", "--json"], arguments].concat(), place);
        let said: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        (output.status.code(), said)
    };
    let (code, alone) = compared(&[]);
    assert_eq!((code, alone["series"].as_array().unwrap().len()), (Some(0), 10), "{alone:#}");
    let [change] = &alone["changes"].as_array().unwrap()[..] else { panic!("{alone:#}") };
    assert_eq!((&change["at"], &change["is_worse"]), (&json!("nightly/15"), &json!(true)), "{change:#}");
    let (code, same) = compared(&["as-ever"]);
    assert_eq!((code, &same["differences"][0]["differs"]), (Some(0), &json!(false)), "{same:#}");
    let (code, worse) = compared(&["slower"]);
    assert_eq!((code, &worse["differences"][0]["is_worse"]), (Some(3), &json!(true)), "{worse:#}");
    let said = lab(&["compare", "--baseline", "nightly", "slower"], place);
    let said = text(&said.stdout);
    assert!(said.contains("worse  since nightly/15  bare: capacity: 1099.3"), "{said}");

    fs::create_dir(place.join("few")).unwrap();
    for (arguments, why) in [
        (&["--baseline", "few", "slower"][..], "few has 0 experiments or runs, and 3 at least"),
        (&["slower"], "1 records given, and two are compared"),
    ] {
        let output = lab(&[&["compare"], arguments].concat(), place);
        let said = text(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains(why), "{said}");
    }
}
