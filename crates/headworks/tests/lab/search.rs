//! `headworks lab run` with a search at each level of a factor, as a process.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use record::Environment;
use record::experiment::{Experiment, TestState};
use record::prediction::Prediction;
use record::search::SearchResult;
use testkit::Machine;

use super::searches::{TWO_OF_THREE, expect, judged};
use super::{HEADWORKS, text};

fn run(spec: &str, place: &Path, options: &[&str]) -> Output {
    let file = place.join("spec.toml");
    fs::write(&file, spec).unwrap();
    let out = place.join("run");
    if out.exists() {
        fs::remove_dir_all(&out).unwrap();
    }
    let mut command = Command::new(HEADWORKS);
    command.args(["lab", "run"]).arg(file).args(["--quiet", "--out"]).arg(out).args(options);
    command.output().unwrap()
}

/// Whether network namespaces can be made here; where not, the test that asks is skipped.
#[track_caller]
fn may_make_namespaces() -> bool {
    let may = rustix::process::geteuid().is_root();
    if !may {
        testkit::skip(&"network namespaces need root");
    }
    may
}

#[test]
fn the_capacity_follows_the_number_of_workers() {
    let spec = r#"
        experiment.title = "Workers"
        server.kind = "origin"
        workload = { url = "/delay?before=20ms&bytes=10", requests-per-connection = 1 }
        search = { crowd = 16, hold = "2s" }
        factor = [{ name = "server.workers", levels = [2, 6] }]
    "#;
    let place = tempfile::tempdir().unwrap();
    let found = judged(
        Machine::shared(),
        TWO_OF_THREE,
        || run(spec, place.path(), &["--json"]),
        |output| {
            expect(output.status.code() == Some(0), text(&output.stderr))?;
            let experiment: Experiment = serde_json::from_slice(&output.stdout).unwrap();
            let mut rates = Vec::new();
            for test in &experiment.tests {
                let said = format!("{test:?}");
                expect(test.state == TestState::Measured, &said)?;
                let capacity = test.capacity.as_ref().unwrap();
                expect(capacity.bottleneck.as_deref() == Some("worker-limit"), &said)?;
                rates.push(capacity.rate.unwrap());
            }
            // A worker serves fifty per second at most.
            expect(rates[1] > 1.5 * rates[0], format!("{rates:?}"))?;
            Ok(experiment)
        },
    );
    let Some(experiment) = found else { return };
    for test in &experiment.tests {
        let record =
            place.path().join("run").join(&test.directory).join(&test.capacity.as_ref().unwrap().directory);
        assert!(record.join("capacity.json").is_file());
    }
    assert_eq!(experiment.tests[1].settings["server workers"], "6");
}

#[test]
fn a_link_is_found_to_be_what_limits() {
    if !may_make_namespaces() {
        return;
    }
    let spec = r#"
        experiment.title = "Link"
        server = { kind = "origin", workers = 50 }
        workload.url = "/bytes/50000"
        testbed.kind = "namespaces"
        link.rate = "10M"
        search = { crowd = 16, hold = "2s" }
    "#;
    let place = tempfile::tempdir().unwrap();
    judged(
        Machine::shared(),
        TWO_OF_THREE,
        || run(spec, place.path(), &[]),
        |output| {
            let said = text(&output.stdout);
            expect(output.status.code() == Some(0), text(&output.stderr))?;
            expect(said.contains("bare: ") && said.contains(", network\n"), &said)?;
            expect(place.path().join("run/report.html").is_file(), "no report")
        },
    );
}

/// A request of the proxy's takes one of forty ports for as long as its answer takes. Which end has it in TIME-WAIT
/// after that is the one that closed first, and may be either.
#[test]
fn a_proxy_is_found_to_have_no_ports_left() {
    if !may_make_namespaces() {
        return;
    }
    let spec = r#"
        experiment.title = "Ports"
        server = { kind = "nginx", backend-workers = 200 }
        workload = { url = "/delay?before=300ms&bytes=10", requests-per-connection = 1 }
        testbed.kind = "namespaces"
        sysctl."net.ipv4.ip_local_port_range" = "20000 20039"
        search = { ramp = "10:210:100:2s" }
    "#;
    let place = tempfile::tempdir().unwrap();
    judged(
        Machine::shared(),
        TWO_OF_THREE,
        || run(spec, place.path(), &[]),
        |output| {
            let said = text(&output.stdout) + &text(&output.stderr);
            if said.contains("apt-get install") {
                testkit::skip(&said);
                return Ok(());
            }
            expect(said.contains(", ephemeral-ports\n"), &said)?;
            expect(said.contains("Cannot assign requested address"), &said)
        },
    );
}

#[test]
fn predictions_stand_beside_what_was_measured() {
    let spec = r#"
        experiment.title = "Prediction"
        server = { kind = "origin", workers = 8, backlog = 8 }
        workload = { url = "/burn?cpu=5ms", requests-per-connection = 1, timeout = "900ms" }
        search = { crowd = 8, hold = "2s" }
        prediction = { fit = 0.3, loads = [0.5, 1.5], duration = "1s" }
    "#;
    let place = tempfile::tempdir().unwrap();
    judged(
        Machine::alone(),
        TWO_OF_THREE,
        || run(spec, place.path(), &[]),
        |output| {
            expect(output.status.code() == Some(0), text(&output.stderr))?;
            let prediction = Prediction::load(&place.path().join("run/tests/01-bare/prediction")).unwrap();
            let [below, above] = &*prediction.points else { panic!("{prediction:?}") };
            // How near it comes is for a quiet machine to say; that it says what a server of this kind does is not.
            let (Some(says_below), Some(says_above)) = (below.predicted, above.predicted) else {
                return Err(format!("{prediction:?}"));
            };
            expect(says_below.lost == 0.0 && says_below.mean > 0.005, format!("{below:?}"))?;
            expect((0.05..0.7).contains(&says_above.lost), format!("{above:?}"))?;
            expect(says_above.mean > says_below.mean, format!("{above:?}"))?;
            expect(prediction.demand >= 0.005, format!("{prediction:?}"))?;
            let said = text(&output.stdout);
            expect(said.contains("A request needs "), &said)?;
            let is_compared = said.contains("that the simulator predicts are within");
            expect(is_compared == below.why.is_empty(), &said)
        },
    );
}

#[test]
fn a_program_of_ones_own_is_told_where_to_listen() {
    let spec = |program: &str| {
        format!(
            r#"
                experiment.title = "Of mine"
                server = {{ kind = "command", command = ["{program}", "origin", "--listen", "{{address}}:{{port}}"] }}
                workload.url = "/delay?before=5ms&bytes=10"
                search = {{ crowd = 2, hold = "300ms" }}
                factor = [{{ name = "search.crowd", levels = [1, 3] }}]
            "#
        )
    };
    let place = tempfile::tempdir().unwrap();
    judged(
        Machine::shared(),
        TWO_OF_THREE,
        || run(&spec(HEADWORKS), place.path(), &[]),
        |output| {
            expect(output.status.code() == Some(0), text(&output.stderr))?;
            let experiment = Experiment::load(&place.path().join("run")).unwrap();
            expect(experiment.server.kind == "command", &experiment.server.kind)?;
            expect(
                experiment.server.version.contains(" origin --listen {address}:{port} (of 2"),
                &experiment.server.version,
            )?;
            for (test, clients) in experiment.tests.iter().zip([1, 3]) {
                let capacity = test.capacity.as_ref().unwrap();
                expect(capacity.rate.unwrap() > 0.0, text(&output.stdout))?;
                let search = place.path().join("run").join(&test.directory).join(&capacity.directory);
                let found = SearchResult::load(&search).unwrap();
                assert_eq!(found.probes.last().unwrap().clients, Some(clients));
                assert!(Environment::load(&search.join(Environment::FILE)).is_ok());
            }
            Ok(())
        },
    );
    let output = run(&spec("no-such-server"), place.path(), &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).contains("there is no program \"no-such-server\""),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn a_plan_says_what_would_be_done() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("spec.toml");
    let spec = r#"
        experiment.title = "Plan"
        server.kind = "origin"
        workload.url = "/bytes/10"
        search = { ramp = "10:30:10:5s" }
        factor = [
            { name = "server.workers", levels = [1, 2] },
            { name = "workload.requests-per-connection", levels = [1, 100] },
        ]
        design = { kind = "one-at-a-time", repeats = 2 }
    "#;
    fs::write(&file, spec).unwrap();
    let output = Command::new(HEADWORKS).args(["lab", "plan"]).arg(&file).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines[0].starts_with("Plan: origin (headworks "), "{said}");
    assert!(lines[1].starts_with("bare at server workers 1, workload requests-per-connection 1 "), "{said}");
    assert!(lines[1].contains(" 21 s "), "{said}");
    let alone = [
        "server workers 2, workload requests-per-connection 1 ",
        "server workers 1, workload requests-per-connection 100 ",
    ];
    for (line, levels) in lines[2..4].iter().zip(alone) {
        assert!(line.starts_with(&format!("bare at {levels}")), "{said}");
    }
    assert_eq!(lines[7], "6 tests, about 3 min", "{said}");
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1, "nothing else was written");
}

#[test]
fn a_configuration_that_the_server_refuses_is_told_in_its_own_words() {
    let place = tempfile::tempdir().unwrap();
    let spec = |more: &str| {
        format!(
            "experiment.title = \"Refused\"\nworkload.url = \"/bytes/10\"\nserver.kind = \"nginx\"\n{more}\n[search]\n"
        )
    };
    let factor = "[[factor]]\nname = \"server.directives.sendfile\"\nlevels = [\"on\", \"perhaps\"]";
    for (more, expected) in [
        ("server.directives.tcp_nodely = \"on\"", "nginx refuses its configuration: "),
        (factor, "bare at server directives sendfile perhaps: nginx refuses its configuration: "),
    ] {
        let output = run(&spec(more), place.path(), &[]);
        let said = text(&output.stderr);
        if said.contains("apt-get install") {
            testkit::skip(&said);
            return;
        }
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(expected) && said.contains("nginx.conf"), "{said}");
    }
}

#[test]
fn what_does_not_go_together_is_said_before_anything_is_measured() {
    let good = r#"
        experiment.title = "Wrong"
        server.kind = "origin"
        workload.url = "/bytes/10"
        search = {}
    "#;
    for (more, expected) in [
        ("factor = [{ name = \"load\", levels = [1] }]", "factor \"load\" does not go with [search]"),
        (
            "factor = [{ name = \"cgroup.cpus\", levels = [1] }]",
            "unknown key \"cpus\"; did you mean \"cpu\"?",
        ),
        (
            "link.rate = \"10M\"",
            "link would change the network of this machine; set testbed.kind to \"namespaces\"",
        ),
        ("test = { warmup = \"1s\", duration = \"1s\" }", "[test] is for tests at given loads"),
        ("server.directives.Timeout = 5", "only servers of kind \"apache\" and \"nginx\" have directives"),
        ("server.descriptors = 3", "no server starts with so few descriptors"),
        (
            "testbed.kind = \"namespaces\"\nsysctl.vm.swappiness = 1",
            "sysctl \"vm.swappiness\" is not a setting of the network",
        ),
        ("testbed.kind = \"namespaces\"\nclient.ports = \"9\"", "\"9\" is not a range of ports"),
        ("prediction = { loads = [0.5, 0.5] }", "these are not loads; give times the capacity"),
        ("prediction = { fit = 0.9 }", "the load to fit to is 0.9"),
        ("prediction = { duration = \"10ms\" }", "prediction.duration is below 1 s"),
        ("prediction = {}\ncgroup.cpu = 1", "nothing can be predicted where [cgroup] or [link] set limits"),
        (
            "prediction = {}\nworkload.cold = \"always\"",
            "nothing can be predicted of files that come from the disk",
        ),
        ("server = { kind = \"command\", command = [\"x\"] }", "needs a command that is told the port"),
        ("search = { crowd = 0 }", "a crowd of 0 clients"),
        ("search = { hold = \"1s\" }", "hold and warmup are of a crowd, and there is none"),
        ("search = { crowd = 4, ramp = \"1:2:1:1s\" }", "a crowd comes again when it has been served"),
        ("cgroup.cpu = 0", "cgroup.cpu is too small; give processors, from 0.01 on"),
    ] {
        let place = tempfile::tempdir().unwrap();
        // What is said anew takes the place of what stands there.
        let good = match more {
            _ if more.starts_with("search = ") => good.replace("search = {}", ""),
            _ if more.starts_with("server = ") => good.replace("server.kind = \"origin\"", ""),
            _ => good.to_owned(),
        };
        let output = run(&format!("{good}\n{more}\n"), place.path(), &[]);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{more}: {said}");
        assert!(said.contains(expected), "{more}: {said}");
        assert!(!place.path().join("run").exists(), "{more}");
    }
}
