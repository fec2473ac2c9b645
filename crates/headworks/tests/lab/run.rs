//! `headworks lab run` as a process: a whole experiment in miniature, what is left of one that is
//! interrupted, and what is said when it cannot be done.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use catalogue::Viewpoint;
use record::experiment::{Experiment, TestState};
use record::{Environment, RunDirectory, SessionOutcome};
use rustix::process::{Pid, Signal, geteuid, kill_process};
use testkit::{Machine, PATIENCE, Process, poll_until};
use traffic::Workload;

use super::HEADWORKS;

const WORKLOAD: &str = r#"
kind = "sessions"
timeout = "2s"
data = { file = "users.csv", rows = "cycle" }

[[class]]
name = "premium"
share = 0.25
cookie = "tier=premium"

[[class]]
name = "basic"
share = 0.75

[[page]]
url = "/bytes/1000"
header = { X-User = "${user}" }
think = "20ms"
embedded = ["/bytes/100", "/bytes/200"]

[[page]]
url = "/burn?cpu=5ms"
think = "20ms"

[[page]]
url = "/burn?cpu=5ms"
"#;

/// What the workload takes, from beside it.
const USERS: &str = "user\nann\nbob\n";

const SPEC: &str = r#"
[experiment]
title = "In miniature"

[server]
kind = "origin"
workers = 8
backlog = 16

[workload]
file = "users/workload.toml"

[gate]
window = 2
class = [{ name = "premium" }, { name = "basic" }]
rule = [{ class = "premium", cookie = "tier=premium" }]

[[factor]]
name = "load"
levels = [0.5, 2]

[capacity]
concurrency = 2
duration = "1s"

[test]
warmup = "200ms"
duration = "1s"
settle = "200ms"
"#;

/// Where one experiment at a time is made: the generators of two would be in each other's way.
struct Place {
    directory: tempfile::TempDir,
    _machine: Machine,
}

/// What is said where the machine does not leave the generator in peace.
const NOT_THE_SERVERS: &str = "the generator could not keep up, and what it found is its own";
const TRIES: usize = 3;

impl Place {
    fn new(machine: Machine) -> Self {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("spec.toml"), SPEC).unwrap();
        let users = directory.path().join("users");
        fs::create_dir(&users).unwrap();
        fs::write(users.join("workload.toml"), WORKLOAD).unwrap();
        fs::write(users.join("users.csv"), USERS).unwrap();
        Self { directory, _machine: machine }
    }

    fn out(&self) -> PathBuf {
        self.directory.path().join("out")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(HEADWORKS);
        command.args(["lab", "run"]).arg(self.directory.path().join("spec.toml"));
        command.arg("--out").arg(self.out()).args(arguments);
        command
    }

    /// Runs it to its end: exit code, standard output, standard error.
    fn run(&self, arguments: &[&str]) -> (i32, String, String) {
        let output = self.command(arguments).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
    }
}

#[test]
fn an_experiment_leaves_a_record_that_agrees_with_itself() {
    let place = Place::new(Machine::shared());
    let mut tries = (0..TRIES).map(|_| place.run(&["--json"]));
    let is_the_generators = |code, said: &str| code == 4 && said.contains(NOT_THE_SERVERS);
    let Some((code, said, progress)) = tries.find(|(code, _, said)| !is_the_generators(*code, said)) else {
        eprintln!("not judged: in {TRIES} experiments the machine never left the generator in peace");
        return;
    };
    let out = place.out();
    let experiment = Experiment::load(&out).unwrap();
    // On a busy machine the generator may be late, and says so.
    let valid = experiment.tests.iter().all(|test| test.state == TestState::Measured);
    assert_eq!(code, if valid { 0 } else { 4 }, "{progress}");
    assert_eq!(serde_json::from_str::<Experiment>(&said).unwrap(), experiment);
    assert_eq!(fs::read_to_string(out.join("spec.toml")).unwrap(), SPEC);
    assert!(out.join("report.html").is_file());
    // What is kept can be asked for again wherever it is put.
    assert!(Workload::read(&out.join("workload.toml")).unwrap().data.is_some());
    let whole = RunDirectory::open(&out).unwrap().info().unwrap().spec;
    assert_eq!(whole["workload"]["data"]["file"].as_str(), Some("users.csv"));
    assert_eq!(fs::read_to_string(out.join("users.csv")).unwrap(), USERS);
    assert!(!experiment.interrupted && experiment.ended.is_some());
    assert_eq!(experiment.server.kind, "origin");
    assert_eq!(Environment::load(&out.join("environment.json")).unwrap().server.unwrap().kind, "origin");

    let capacity = experiment.capacity.as_ref().unwrap();
    assert!(capacity.ci[0] <= capacity.rate && capacity.rate <= capacity.ci[1], "{capacity:?}");
    assert!(
        RunDirectory::open(out.join(&capacity.directory)).unwrap().summary().unwrap().sessions.completed > 0
    );

    // What was seen of the server meanwhile says what was at its end.
    let verdict = Command::new(HEADWORKS).args(["lab", "verdict", "--json"]).arg(&out).output();
    let said: serde_json::Value = serde_json::from_slice(&verdict.unwrap().stdout).unwrap();
    for (subject, directory) in [("bare", "tests/01-bare-0.5"), ("gate", "tests/02-gate-0.5")] {
        let probes = said["tests"][subject]["probes"].as_array().unwrap_or_else(|| panic!("{said:#}"));
        assert_eq!(probes.len(), 2, "{said:#}");
        assert_eq!(probes[0]["directory"], directory, "{said:#}");
        // In overload workers can be held by clients who have given up, and use hardly anything.
        let used = probes.iter().map(|probe| probe["used"]["processors of the server"].as_f64().unwrap());
        assert!(used.fold(0.0, f64::max) > 0.1, "{said:#}");
    }

    let order: Vec<_> = experiment.tests.iter().map(|test| (test.subject.as_str(), test.level)).collect();
    assert_eq!(order, [("bare", 0.5), ("gate", 0.5), ("bare", 2.0), ("gate", 2.0)]);
    for test in &experiment.tests {
        // On a busy machine the generator may be late and say so; its figures are there nevertheless.
        assert_ne!(test.state, TestState::Broken, "{:?}", test.why);
        assert!((test.offered - test.level * capacity.rate).abs() < 1e-6, "{test:?}");
        agrees_with_itself(&out.join(&test.directory), test.subject == "gate");
    }
    assert_eq!(progress.lines().filter(|line| line.contains("sessions/s offered")).count(), 4, "{progress}");
}

fn agrees_with_itself(directory: &Path, gated: bool) {
    let run = RunDirectory::open(directory).unwrap();
    let (summary, window) = (run.summary().unwrap(), run.info().unwrap().window);
    let sessions: Vec<_> = run.sessions().unwrap().map(Result::unwrap).collect();
    let inside = |class: &str, completed: bool| {
        let counted = sessions.iter().filter(|session| {
            window.contains(session.started_ns)
                && &*session.class == class
                && (!completed || session.outcome == SessionOutcome::Completed)
        });
        counted.count() as u64
    };
    for class in ["premium", "basic"] {
        let figures = summary.sessions.by_class.get(class).cloned().unwrap_or_default();
        assert_eq!(figures.started, inside(class, false), "{class}");
        assert_eq!(figures.completed, inside(class, true), "{class}");
    }
    assert_eq!(summary.sessions.started, inside("premium", false) + inside("basic", false));
    assert!(directory.join("server.log").is_file());
    assert_eq!(directory.join("gate.log").is_file(), gated);
    if gated {
        let metrics = fs::read_to_string(directory.join("gate.metrics")).unwrap();
        assert!(metrics.contains("# TYPE"), "{metrics}");
        let samples: Vec<_> = run.samples().unwrap().map(Result::unwrap).collect();
        let of_gate = |metric: &str| {
            samples.iter().find(|row| row.viewpoint == Viewpoint::Gate && row.metric.as_str() == metric)
        };
        assert_eq!(of_gate("gate.window").unwrap().value, 2.0);
        assert!(of_gate("gate.queue").is_some());
        // What the generator saw of itself is still there.
        assert!(samples.iter().any(|row| row.viewpoint == Viewpoint::Client));
    }
}

#[test]
fn workers_behind_a_server_compute_its_pages() {
    for kind in [&["server.kind=nginx"][..], &["server.kind=apache", "server.mpm=event"]] {
        served_by_workers_behind(kind);
    }
}

fn served_by_workers_behind(kind: &[&str]) {
    let place = Place::new(Machine::shared());
    let settings = [
        "server.workers=2",
        "server.backend-workers=2",
        "capacity.rate=10",
        "factor.0.levels=[1]",
        r#"design.subjects=["bare"]"#,
    ];
    let (code, _, progress) =
        place.run(&kind.iter().chain(&settings).flat_map(|setting| ["--set", setting]).collect::<Vec<_>>());
    if progress.contains("apt-get install") {
        testkit::skip(&progress);
        return;
    }
    let experiment = Experiment::load(&place.out()).unwrap();
    let test = &experiment.tests[0];
    let valid = test.state == TestState::Measured;
    assert_eq!(code, if valid { 0 } else { 4 }, "{progress}");
    assert_ne!(test.state, TestState::Broken, "{:?}", test.why);
    let directory = place.out().join(&test.directory);
    let sessions = RunDirectory::open(&directory).unwrap().summary().unwrap().sessions;
    assert!(sessions.completed > 0, "{sessions:?}");
    assert!(fs::read_to_string(directory.join("behind.log")).unwrap().starts_with("listening on "));
    assert!(experiment.server.version.ends_with(", pages by 2 workers behind it"), "{experiment:?}");
}

#[test]
fn what_was_measured_before_an_interruption_is_kept_and_gone_on_with() {
    let place = Place::new(Machine::shared());
    let out = place.out();
    let settings = [
        "--quiet",
        "--set",
        "capacity.rate=10",
        "--set",
        "factor.0.levels=[0.5, 1]",
        "--set",
        "design.order=random",
    ];
    let mut lab = Process::start(&mut place.command(&settings));
    let measured = |enough: usize| {
        poll_until(PATIENCE, "a test to be measured", || {
            let tests = Experiment::load(&out).ok()?.tests;
            (tests.len() >= enough).then_some(tests)
        })
    };
    let first = measured(1).remove(0);
    let children = poll_until(PATIENCE, "the next test to start", || {
        Some(children_of(lab.id())).filter(|children| !children.is_empty())
    });
    kill_process(Pid::from_raw(lab.id().cast_signed()).unwrap(), Signal::INT).unwrap();
    assert_eq!(lab.wait().code(), Some(130), "{}", lab.rest_of_stderr());
    for child in children {
        assert!(!Path::new(&format!("/proc/{child}")).exists(), "process {child} outlived the lab");
    }
    let experiment = Experiment::load(&out).unwrap();
    assert!(experiment.interrupted);
    assert!(experiment.tests.len() < 4, "{:?}", experiment.tests);
    assert_eq!(experiment.tests[0], first);
    assert!(out.join("report.html").is_file());

    let (code, _, error) = place.run(&[&settings[..], &["--seed", "9"]].concat());
    assert_eq!(code, 2);
    assert!(error.contains("already holds an experiment with another seed"), "{error}");
    fs::write(out.join("workload.toml"), "# changed since\n").unwrap();
    let (code, _, error) = place.run(&settings);
    assert_eq!(code, 2);
    assert!(error.contains("already holds an experiment with another workload"), "{error}");
    fs::remove_file(out.join("workload.toml")).unwrap();

    let (code, said, progress) = place.run(&settings);
    assert!(said.contains("report: "), "{said}");
    let experiment = Experiment::load(&out).unwrap();
    let valid = experiment.tests.iter().all(|test| test.state == TestState::Measured);
    assert_eq!(code, if valid { 0 } else { 4 }, "{progress}");
    assert!(!experiment.interrupted);
    assert_eq!(experiment.tests.len(), 4);
    if first.state == TestState::Measured {
        assert_eq!(experiment.tests[0], first, "it was not done again");
    }

    let (code, _, error) = place.run(&settings);
    assert_eq!(code, 2);
    let expected = format!(
        "headworks: {} already holds an experiment that is complete; give another directory with --out\n",
        out.display()
    );
    assert_eq!(error, expected);
}

/// What fits is kept, and once there is room again it is gone on with.
#[test]
fn a_full_disk_loses_nothing_that_was_measured() {
    if !geteuid().is_root() {
        testkit::skip(&"only root can make a small disk");
        return;
    }
    let place = Place::new(Machine::shared());
    let path = |name: &str| place.directory.path().join(name);
    fs::create_dir(path("small")).unwrap();
    // The size is that of a few tests of this kind.
    let script = r#"mount -t tmpfs -o size=400k tmpfs "$1/small" || exit 99
        run() { "$0" lab run "$1/spec.toml" --quiet --out "$1/small/run" --set capacity.rate=10 \
            --set design.repeats=5 --set 'design.subjects=["bare"]' --set test.duration=300ms 2> "$1/$2"; }
        run "$1" full; echo $? > "$1/code"; cp "$1/small/run/experiment.json" "$1/kept.json"
        mount -o remount,size=100m "$1/small" || exit 98
        run "$1" again; code=$?; cp "$1/small/run/experiment.json" "$1/complete.json"; exit $code"#;
    let output = Command::new("unshare")
        .args(["--mount", "sh", "-c", script, HEADWORKS])
        .arg(place.directory.path())
        .output()
        .unwrap();
    if output.status.code() == Some(99) {
        testkit::skip_here(&format!(
            "no file system can be mounted here: {}",
            String::from_utf8_lossy(&output.stderr)
        ));
        return;
    }
    let said = fs::read_to_string(path("full")).unwrap();
    assert_eq!(fs::read_to_string(path("code")).unwrap(), "1\n", "{said}");
    assert!(said.contains("No space left on device"), "{said}");
    let tests = |name: &str| {
        let text = fs::read(path(name)).unwrap();
        serde_json::from_slice::<Experiment>(&text).unwrap().tests
    };
    let (kept, complete) = (tests("kept.json"), tests("complete.json"));
    let again = fs::read_to_string(path("again")).unwrap();
    assert!(matches!(output.status.code(), Some(0 | 4)), "{again}");
    assert!(!kept.is_empty() && kept.len() < 10 && complete.len() == 10, "{kept:?}\n{complete:?}");
    let measured = kept.iter().filter(|test| test.state == TestState::Measured);
    for test in measured {
        assert!(complete.contains(test), "{test:?} was done again\n{again}");
    }
}

/// Processes whose parent is `pid`.
fn children_of(pid: u32) -> Vec<String> {
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    children.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn what_cannot_be_done_is_said_before_anything_is_measured() {
    let place = Place::new(Machine::shared());
    let nobody = testkit::free_address().to_string();
    let url = format!("server.url=http://{nobody}");
    for (settings, code, expected) in [
        (
            vec!["server.kind=apach"],
            2,
            "--set server.kind=apach: unknown value \"apach\"; did you mean \"apache\"?".to_owned(),
        ),
        (
            vec!["gate.windw=2"],
            2,
            "the gate refuses the settings of [gate]: unknown key \"windw\"; did you mean \"window\"?"
                .to_owned(),
        ),
        (
            vec!["server.kind=url", url.as_str()],
            1,
            format!(
                "server does not answer at http://{nobody}; start it, or let the lab start one (server.kind = \"origin\")"
            ),
        ),
    ] {
        let arguments: Vec<&str> = settings.iter().flat_map(|setting| ["--set", setting]).collect();
        let (exit, said, error) = place.run(&arguments);
        assert_eq!((exit, said.as_str()), (code, ""), "{error}");
        assert_eq!(error, format!("headworks: {expected}\n"));
        assert!(!place.out().exists(), "{expected}");
    }
}
