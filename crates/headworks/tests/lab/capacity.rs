//! `headworks lab capacity` as a process, on a server whose capacity is known.

use std::process::{Command, Output};

use record::{RunDirectory, Window};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use testkit::{Machine, PATIENCE, Process, poll_until};

use super::searches::{TWO_OF_THREE, expect, judged};
use super::{HEADWORKS, text};

fn capacity(arguments: &[&str]) -> Output {
    Command::new(HEADWORKS).args(["lab", "capacity"]).args(arguments).output().unwrap()
}

/// Four workers, each of which is taken for 20 ms by a request: never more than 200 per second.
fn four_workers() -> (Process, String) {
    let (server, address) = Process::origin(HEADWORKS, &["--workers", "4", "--backlog", "64"]);
    (server, format!("http://{address}/delay?before=20ms&bytes=10"))
}

#[test]
fn the_rate_that_workers_allow_is_found() {
    let (mut server, url) = four_workers();
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("search");
    let options = ["--json", "--precision", "20%", "--out", out.to_str().unwrap()];
    let search = || {
        std::fs::remove_dir_all(&out).unwrap_or_default();
        capacity(&[&[&*url][..], &options, &["--", "--requests-per-connection", "1"]].concat())
    };
    let found = judged(Machine::shared(), TWO_OF_THREE, search, |output| {
        expect(output.status.code() == Some(0), text(&output.stderr))?;
        let said: Value = serde_json::from_slice(&output.stdout).unwrap();
        let [low, rate, high] = ["/capacity/ci/0", "/capacity/rate", "/capacity/ci/1"]
            .map(|place| said.pointer(place).unwrap().as_f64().unwrap());
        expect(low <= rate && rate <= high && high < 2.0 * low, &said)?;
        expect(low < 205.0 && high > 140.0, &said)?;
        expect(said["bottleneck"] == "worker-limit", &said)?;
        Ok((said, text(&output.stderr)))
    });
    let Some((said, progress)) = found else { return };
    let clients: Vec<_> = said["probes"].as_array().unwrap().iter().map(|probe| &probe["clients"]).collect();
    assert_eq!(clients[..2], [1, 4], "{said}");
    let verdict = |options: &[&str]| {
        let mut command = Command::new(HEADWORKS);
        command.args(["lab", "verdict", out.to_str().unwrap(), "--json"]).args(options).output().unwrap()
    };
    let json = |output: Output| serde_json::from_slice::<Value>(&output.stdout).unwrap();
    assert_eq!(json(verdict(&[])), said);
    // What was seen can come from somewhere else, if it is of that time.
    let seen = place.path().join("seen");
    std::fs::rename(out.join("watch"), &seen).unwrap();
    assert_eq!(json(verdict(&[]))["bottleneck"], Value::Null);
    assert_eq!(json(verdict(&["--watch", seen.to_str().unwrap()])), said);
    let info = seen.join("run.toml");
    let before = std::fs::read_to_string(&info).unwrap();
    let (year, _) = before.split_once("started = \"").unwrap().1.split_once('-').unwrap();
    std::fs::write(&info, before.replace(&format!("\"{year}-"), "\"1999-")).unwrap();
    let late = verdict(&["--watch", seen.to_str().unwrap()]);
    assert_eq!(late.status.code(), Some(2));
    assert!(text(&late.stderr).contains("is of another time"), "{}", text(&late.stderr));
    let records = std::fs::read_dir(out.join("probes")).unwrap().count();
    assert_eq!(records, clients.len());
    assert_eq!(progress.lines().count(), clients.len(), "{progress}");

    let again = capacity(&[&url, "--out", out.to_str().unwrap()]);
    assert_eq!(again.status.code(), Some(2));
    assert!(text(&again.stderr).contains("is not empty"), "{}", text(&again.stderr));
    assert!(out.join("capacity.json").exists());
    server.terminate();
}

#[test]
fn a_crowd_gets_what_the_workers_can_do() {
    let (mut server, url) = four_workers();
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("crowd");
    let options = ["--crowd", "16", "--warmup", "700ms", "--hold", "1s", "--json", "--quiet"];
    let options = [&options[..], &["--out", out.to_str().unwrap()]].concat();
    let search = || {
        std::fs::remove_dir_all(&out).unwrap_or_default();
        capacity(&[&[&*url][..], &options, &["--", "--requests-per-connection", "1"]].concat())
    };
    judged(Machine::shared(), TWO_OF_THREE, search, |output| {
        expect(output.status.code() == Some(0), text(&output.stderr))?;
        let said: Value = serde_json::from_slice(&output.stdout).unwrap();
        let rate = said["capacity"]["rate"].as_f64().unwrap();
        expect((100.0..=205.0).contains(&rate), &said)?;
        let clients: Vec<_> =
            said["probes"].as_array().unwrap().iter().map(|probe| &probe["clients"]).collect();
        expect(clients == [1, 16], &said)?;
        let run = RunDirectory::open(out.join("probes/02-clients-16")).unwrap();
        assert_eq!(run.info().unwrap().window, Window { from_ns: 700_000_000, to_ns: 1_700_000_000 });
        expect(said["basis"][0].as_str().unwrap().starts_with("16 clients got that, with "), &said)?;
        expect(out.join("report.html").is_file(), "no report")
    });
    let both = capacity(&[&url, "--crowd", "4", "--ramp", "1:2:1:1s"]);
    assert_eq!(both.status.code(), Some(2), "{}", text(&both.stderr));
    server.terminate();
}

#[test]
fn a_ramp_is_climbed_to_its_end() {
    let (mut server, url) = four_workers();
    let ramp = ["--ramp", "60:300:120:1500ms", "--quiet", "--", "--requests-per-connection", "1"];
    judged(
        Machine::shared(),
        TWO_OF_THREE,
        || capacity(&[&[&*url][..], &ramp].concat()),
        |output| {
            let said = text(&output.stdout);
            expect(output.status.code() == Some(0), text(&output.stderr))?;
            expect(output.stderr.is_empty(), text(&output.stderr))?;
            expect(said.contains("At 60/s it kept up") || said.contains("At 180/s it kept up"), &said)?;
            expect(said.contains("/s it did not: "), &said)
        },
    );
    server.terminate();
}

#[test]
fn what_was_found_before_an_interrupt_is_kept() {
    let (mut server, url) = four_workers();
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("search");
    let mut search =
        Process::start(Command::new(HEADWORKS).args(["lab", "capacity", &url, "--json", "--out"]).arg(&out));
    poll_until(PATIENCE, "the second probe", || out.join("probes/02-clients-4").exists().then_some(()));
    let id = i32::try_from(search.id()).unwrap();
    kill_process(Pid::from_raw(id).unwrap(), Signal::INT).unwrap();
    assert_eq!(search.wait().code(), Some(130));
    let kept: Value = serde_json::from_slice(&std::fs::read(out.join("capacity.json")).unwrap()).unwrap();
    assert_eq!((&kept["capacity"], &kept["probes"][0]["clients"]), (&Value::Null, &1.into()), "{kept}");
    assert_eq!(kept["bottleneck"], Value::Null, "{kept}");
    server.terminate();
}

#[test]
fn what_cannot_be_found_is_explained() {
    let nobody = format!("http://{}/", testkit::free_address());
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("search");
    let output = capacity(&[&nobody, "--quiet", "--out", out.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let said = text(&output.stderr);
    assert!(said.contains("load failed") && said.contains("Connection refused"), "{said}");
    assert!(!said.contains('{'), "{said}");
    assert_eq!(std::fs::read_dir(&out).unwrap().count(), 0, "nothing is in the way of the next search");

    let (mut server, address) = Process::origin(HEADWORKS, &["--mode", "static"]);
    let output = capacity(&[&format!("http://{address}/no-such-page"), "--quiet", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("times status 404"), "{}", text(&output.stderr));
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(said["bottleneck"], Value::Null, "{said}");

    let url = format!("http://{address}/bytes/10");
    judged(
        Machine::shared(),
        TWO_OF_THREE,
        || capacity(&[&url, "--ramp", "5:10:5:500ms", "--quiet"]),
        |output| {
            let said = text(&output.stderr);
            let why = "the capacity was not found: the server kept up with all rates, up to 10/s";
            expect(output.status.code() == Some(1) && said.contains(why), &said)?;
            expect(text(&output.stdout).contains("bottleneck none"), text(&output.stdout))
        },
    );
    server.terminate();

    let verdict = Command::new(HEADWORKS).args(["lab", "verdict", "."]).output().unwrap();
    assert_eq!(verdict.status.code(), Some(2));
    assert!(text(&verdict.stderr).contains("capacity.json"), "{}", text(&verdict.stderr));

    for wrong in [&["--ramp", "1:2"][..], &["--cpus", "x"], &["--", "--no-such-option"]] {
        let output = capacity(&[&[&*nobody, "--quiet"], wrong].concat());
        assert_eq!(output.status.code(), Some(2), "{wrong:?}: {}", text(&output.stderr));
    }
}
