//! An experiment's directory to figures, page and table.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]
#![allow(dead_code, reason = "the fixture is shared")]

use std::fs;
use std::path::{Path, PathBuf};

use crate::fixture::{Fate, Plan};
use record::experiment::{Factor, OtherFactor, TestState};
use report::{Document, Error, ExperimentReport};

fn plan(subject: &'static str, level: f64, repeat: u32, fates: &[Fate]) -> Plan {
    crate::fixture::plan(subject, level, repeat, fates.to_vec())
}

fn fate(class: &'static str, started: u64, completed: u64, median: f64) -> Fate {
    Fate { class, started, completed, median }
}

fn report_of(plans: &[Plan]) -> ExperimentReport {
    let directory = tempfile::tempdir().unwrap();
    crate::fixture::write(directory.path(), plans);
    ExperimentReport::read(directory.path()).unwrap()
}

/// As `headworks report` does it.
fn written(directory: &Path) -> Result<PathBuf, Error> {
    Document::read(directory)?.write(directory)
}

#[test]
fn repeats_are_pooled_by_their_counts() {
    let report = report_of(&[
        plan("gate", 3.0, 1, &[fate("premium", 300, 300, 0.1), fate("basic", 100, 0, 1.0)]),
        plan("gate", 3.0, 2, &[fate("premium", 100, 80, 0.1), fate("basic", 100, 50, 1.0)]),
    ]);
    let point = report.point("gate", 3.0).unwrap();
    assert_eq!((point.repeats, point.started, point.completed), (2, 600, 430));
    assert_eq!(point.window, 2.0 * crate::fixture::WINDOW_SECONDS as f64);
    let premium = point.class("premium").unwrap();
    assert_eq!((premium.started, premium.completed), (400, 380));
    let share = premium.share.unwrap();
    assert_eq!(share.value, 0.95);
    let [low, high] = share.ci.unwrap();
    assert!((low - 0.9240).abs() < 1e-3 && (high - 0.9674).abs() < 1e-3, "{share:?}");
    let duration = premium.duration.as_ref().unwrap();
    assert_eq!(duration.count, 380);
    assert!((duration.median.value - 0.1).abs() < 0.002, "{duration:?}");
    assert_eq!(point.requests.phases.connect.count, 4 * 600);
}

#[test]
fn sessions_count_only_by_the_measuring_window() {
    let fates = [fate("premium", 1000, 1000, 1.6)];
    let report = report_of(&[plan("bare", 0.7, 1, &fates)]);
    let point = report.point("bare", 0.7).unwrap();
    assert_eq!((point.started, point.completed), (1000, 1000), "sessions of the warm-up count");

    // A session takes two seconds with its pauses, so those that set out in the last two seconds
    // of the window are completed, but not while the load was on.
    let report = report_of(&[Plan { warmed_up: false, ..plan("bare", 0.7, 1, &fates) }]);
    let point = report.point("bare", 0.7).unwrap();
    assert_eq!((point.started, point.completed), (1000, 1000));
    let missed = 1000 - point.completed_inside;
    assert!(
        (150..250).contains(&missed),
        "{missed} of 1000 ended after a window of 10 s with 2 s of session"
    );
    assert_eq!(point.goodput.unwrap().value, point.completed_inside as f64 / 10.0);
}

#[test]
fn what_is_broken_or_not_valid_is_never_averaged() {
    let good = || plan("gate", 2.0, 1, &[fate("premium", 100, 100, 0.1)]);
    let bad = |state, why| Plan { state, why, ..plan("gate", 2.0, 2, &[fate("premium", 100, 0, 0.1)]) };
    let report = report_of(&[
        good(),
        bad(TestState::Broken, "the server died"),
        bad(TestState::NotValid, "the generator was late"),
    ]);
    let point = report.point("gate", 2.0).unwrap();
    assert_eq!((point.repeats, point.started, point.completed), (1, 100, 100));
    assert_eq!(report.tests[1].why, ["the server died"]);
    assert!(report.tests[1].classes.is_empty());
    assert_eq!(report.tests[2].classes[0].share, Some(0.0), "shown, though not counted");
    let table = report.table();
    assert!(table.contains("tests/02-gate-2: broken, not counted: the server died"), "{table}");
    assert!(table.contains("tests/03-gate-2: not valid"), "{table}");
}

#[test]
fn a_record_that_cannot_be_trusted_is_broken_whatever_the_index_says() {
    let directory = tempfile::tempdir().unwrap();
    let fates = [fate("premium", 100, 100, 0.1)];
    let tests: Vec<Plan> = (1..=4).map(|repeat| plan("gate", 2.0, repeat, &fates)).collect();
    let experiment = crate::fixture::write(directory.path(), &tests);
    let place = |i: usize| directory.path().join(&experiment.tests[i].directory);
    fs::remove_file(place(0).join("sessions.parquet")).unwrap();
    fs::write(place(1).join("summary.json"), "{ \"requests\": ").unwrap();
    fs::copy(place(3).join("summary.json"), place(2).join("summary.json")).unwrap();
    let run = record::RunDirectory::open(place(2)).unwrap();
    let mut summary = run.summary().unwrap();
    summary.sessions.started += 1;
    run.write_summary(&summary).unwrap();

    let report = ExperimentReport::read(directory.path()).unwrap();
    assert_eq!(report.point("gate", 2.0).unwrap().repeats, 1);
    for (i, word) in [(0, "sessions.parquet"), (1, "summary.json"), (2, "counts 101 sessions")] {
        let test = &report.tests[i];
        assert_eq!(test.state, TestState::Broken, "{test:?}");
        assert!(test.why.iter().any(|why| why.contains(word)), "{test:?}");
    }
    assert_eq!(report.tests[3].state, TestState::Measured);
}

#[test]
fn what_sets_the_limit_is_said_with_what_to_do() {
    let report = report_of(&crate::fixture::plans());
    assert_eq!(report.limits.len(), 1);
    let table = report.table();
    let said = "\nbare: the limit is the number of workers (worker-limit)\n  All 4 processes were taken.\n  Raise MaxRequestWorkers.\n";
    assert!(table.contains(said), "{table}");
}

#[test]
fn the_verdict_is_in_words_and_figures() {
    let report = report_of(&crate::fixture::plans());
    let verdict = &report.verdict;
    assert_eq!(
        verdict.headline,
        "At 3× capacity the gate completed 99.6 % of premium sessions; bare, 22.1 %"
    );
    let details = verdict.details.join("\n");
    for part in [
        "That is 478 of 480 premium sessions behind the gate, and 106 of 480 on the bare server.",
        "waited 170 ms behind the gate, 1.5 times what it waited on the bare server at 0.7× capacity (110 ms)",
        "Of basic sessions the gate completed 12.0 %, the bare server 21.0 %.",
        "the gate completed 35.6 sessions per second, 89.1 % of what can be completed at most, the bare server 25.6, 64.1 %; capacity is 40.0.",
        "Below capacity, at 0.7×, the gate completed 100 % of all sessions, the bare server 100 %.",
    ] {
        assert!(details.contains(part), "no {part:?} in:\n{details}");
    }
    assert_eq!(verdict.figures[0].value, "99.6 %");
}

#[test]
fn other_subjects_are_told_of_beside_the_first_two() {
    let plans = ["bare", "gate", "haproxy", "nginx", "mod_qos"].map(|subject| {
        let (completed, median) = if subject == "haproxy" { (90, 0.25) } else { (50, 0.5) };
        plan(subject, 3.0, 1, &[fate("premium", 100, completed, median), fate("basic", 100, 10, 0.5)])
    });
    let report = report_of(&plans);
    assert!(report.verdict.headline.contains("the gate completed 50.0 %"), "{}", report.verdict.headline);
    let others = "Of the same premium sessions completed: haproxy 90.0 % (median 250 ms), \
                  nginx 50.0 % (median 500 ms) and mod_qos 50.0 % (median 500 ms).";
    assert!(report.verdict.details.iter().any(|text| text == others), "{:?}", report.verdict.details);
    assert!(!report_of(&plans[..2]).verdict.details.join(" ").contains("Of the same"));
    let tests = report.method.iter().find(|fact| fact.label == "Tests").unwrap();
    assert!(tests.value.starts_with("5: bare, gate, haproxy, nginx and mod_qos at load"), "{tests:?}");
}

#[test]
fn a_difference_within_the_intervals_is_called_none() {
    let report = report_of(&[
        plan("bare", 2.0, 1, &[fate("premium", 20, 15, 0.1)]),
        plan("gate", 2.0, 1, &[fate("premium", 20, 16, 0.1)]),
    ]);
    assert!(report.verdict.headline.ends_with("no difference that counts"), "{}", report.verdict.headline);
}

#[test]
fn one_subject_or_none_is_still_a_report() {
    let one = report_of(&[plan("bare", 2.0, 1, &[fate("premium", 20, 15, 0.1)])]);
    assert_eq!(one.verdict.headline, "At 2× capacity the bare server completed 75.0 % of premium sessions");
    let none = report_of(&[]);
    assert_eq!(none.verdict.headline, "Nothing has been measured yet");
    let broken = Plan { state: TestState::Broken, ..plan("bare", 2.0, 1, &[]) };
    assert_eq!(report_of(&[broken]).verdict.headline, "The only test does not count");
    assert!(none.table().contains("capacity 40.0 sessions/s"));
}

#[test]
fn the_table_fits_a_terminal() {
    let table = report_of(&crate::fixture::plans()).table();
    let rows: Vec<&str> = table.lines().collect();
    assert!(rows.iter().take(16).all(|row| row.chars().count() <= 80), "{table}");
    assert!(table.contains("3×     premium   22.1 %   99.6 %"), "{table}");
}

#[test]
fn the_page_carries_the_data_and_nothing_ends_it_early() {
    let directory = tempfile::tempdir().unwrap();
    crate::fixture::write(directory.path(), &crate::fixture::plans());
    let path = written(directory.path()).unwrap();
    assert_eq!(path, directory.path().join("report.html"));
    let page = fs::read_to_string(&path).unwrap();
    assert!(page.contains("Synthetic overload"));
    assert!(page.contains("# \\u003c/script>"), "the spec's text is escaped");
    written(directory.path()).expect("an older report is replaced");
    assert!(!directory.path().join("report.html.new").exists());
}

#[test]
fn a_wrong_directory_is_named_with_the_mend() {
    let directory = tempfile::tempdir().unwrap();
    let check = |path: &Path, wanted: &str| {
        let why = written(path).unwrap_err().to_string();
        assert!(why.contains(&path.display().to_string()) && why.contains(wanted), "{why}");
    };
    check(&directory.path().join("nowhere"), "does not exist");
    check(directory.path(), "headworks lab run");
    crate::fixture::write(directory.path(), &crate::fixture::plans());
    fs::write(directory.path().join("experiment.json"), "{").unwrap();
    assert!(matches!(written(directory.path()), Err(Error::Record(_))));
}

#[test]
fn each_setting_of_a_subject_is_compared_by_itself() {
    let directory = tempfile::tempdir().unwrap();
    let fates = |completed| [fate("premium", 100, completed, 0.1)];
    // In the order of a shuffled plan, which is not that of the levels.
    let plans = [
        plan("gate", 3.0, 1, &fates(90)),
        plan("bare", 3.0, 1, &fates(30)),
        plan("gate", 3.0, 2, &fates(50)),
    ];
    let mut experiment = crate::fixture::write(directory.path(), &plans);
    let other = |name: &str, label: &str, unit: &str, levels: &[&str]| OtherFactor {
        name: name.to_owned(),
        label: label.to_owned(),
        unit: unit.to_owned(),
        levels: levels.iter().map(|&level| level.to_owned()).collect(),
        published: None,
    };
    experiment.others = vec![
        other("gate.look-ahead", "look-ahead", "", &["1", "12"]),
        other("gate.favour", "favour", "", &["0.5"]),
    ];
    for (test, level) in [(0, "12"), (2, "1")] {
        let settings = [("look-ahead", level), ("favour", "0.5")];
        experiment.tests[test].settings =
            settings.map(|(key, level)| (key.to_owned(), level.to_owned())).into();
    }
    experiment.save(directory.path()).unwrap();
    let report = ExperimentReport::read(directory.path()).unwrap();
    assert_eq!(report.subjects, ["bare", "gate, look-ahead 1", "gate, look-ahead 12"]);
    assert_eq!(report.point("gate, look-ahead 12", 3.0).unwrap().completed, 90);
    assert_eq!(report.point("gate, look-ahead 1", 3.0).unwrap().completed, 50, "never pooled with the other");
    assert_eq!(
        report.verdict.headline,
        "At 3× capacity the gate (look-ahead 12) completed 90.0 % of premium sessions; bare, 30.0 %"
    );
    let tests = report.method.iter().find(|fact| fact.label == "Tests").unwrap();
    assert!(
        tests.value.ends_with("; gate.look-ahead 1, 12; gate.favour 0.5, 2 times each"),
        "{}",
        tests.value
    );
}

#[test]
fn a_class_with_a_load_of_its_own_is_told_from_the_rest() {
    let directory = tempfile::tempdir().unwrap();
    let plans = [plan("gate", 3.0, 1, &[fate("premium", 100, 100, 0.1), fate("basic", 100, 10, 0.1)])];
    let mut experiment = crate::fixture::write(directory.path(), &plans);
    experiment.classes[0].load = Some(0.4);
    experiment.save(directory.path()).unwrap();
    let report = ExperimentReport::read(directory.path()).unwrap();
    let classes = report.method.iter().find(|fact| fact.label == "Classes").unwrap();
    assert_eq!(classes.value, "premium 0.4× capacity at every level, basic the rest");
}

#[test]
fn a_knob_on_the_axis_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let plans = [4.0, 64.0].map(|level| plan("gate", level, 1, &[fate("premium", 100, 100, 0.1)]));
    let mut experiment = crate::fixture::write(directory.path(), &plans);
    experiment.factor = Factor {
        name: "gate.class.basic.target-queue".to_owned(),
        unit: String::new(),
        levels: vec![4.0, 64.0],
    };
    experiment.save(directory.path()).unwrap();
    let report = ExperimentReport::read(directory.path()).unwrap();
    assert_eq!(
        report.verdict.headline,
        "At basic target-queue 64 the gate completed 100 % of premium sessions"
    );
    assert!(report.table().contains("basic target-queue   class"), "{}", report.table());
}
