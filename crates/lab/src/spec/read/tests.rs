//! Specs as people write them: what is taken, what is refused, and with which words.

mod search;
mod server;

use std::fs;
use std::path::PathBuf;

use testbed::{Cpus, Mpm};
use traffic::Workload;
use units::Span;

use super::*;
use crate::spec::design::Order;
use crate::spec::factors;
use crate::spec::method::Capacity;
use crate::spec::server::Kind;
use crate::spec::subject::Subject;

const GOOD: &str = r#"[experiment]
title = "Overload"

[server]
kind = "origin"

[workload]
file = "bank.toml"

[gate]
window = 2

[[factor]]
name = "load"
levels = [0.7, 2]

[test]
warmup = "1s"
duration = "4s"

[capacity]
concurrency = 4
duration = "5s"
"#;

const BANK: &str = r#"kind = "sessions"
timeout = "2s"

[[class]]
name = "premium"
share = 0.2

[[class]]
name = "basic"
share = 0.8

[[page]]
url = "/burn?cpu=25ms"
think = "200ms"
embedded = ["/bytes/2000"]
"#;

fn read(text: &str, settings: &[&str]) -> Result<Spec, String> {
    let directory = tempfile::tempdir().unwrap();
    let file: PathBuf = directory.path().join("spec.toml");
    fs::write(&file, text).unwrap();
    fs::write(directory.path().join("bank.toml"), BANK).unwrap();
    let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
    Spec::read(&file, &settings)
        .map_err(|error| error.to_string().replace(&format!("{}/", directory.path().display()), ""))
}

fn levels(spec: &Spec) -> Vec<f64> {
    spec.factors[0].levels.iter().filter_map(factors::number).collect()
}

#[test]
fn what_is_left_out_has_its_default() {
    let spec = read(GOOD, &[]).unwrap();
    assert_eq!(spec.title, "Overload");
    assert_eq!(spec.server.kind, Kind::Origin);
    assert_eq!((spec.server.workers, spec.server.backlog), (150, 511));
    assert_eq!(spec.server.cpus, Cpus::one(0));
    assert_eq!(spec.client_cpus, Cpus::one(1));
    assert_eq!(spec.subjects, [Subject::Bare, Subject::Gate]);
    assert_eq!((levels(&spec), spec.repeats, spec.order), (vec![0.7, 2.0], 1, Order::Given));
    assert_eq!(spec.test.settle, Span::from_secs(2));
    assert_eq!(spec.workload.timeout, Span::from_secs(2));
    assert!(matches!(spec.capacity, Capacity::ClosedLoop { concurrency: 4, .. }));
    assert_eq!(spec.text, GOOD);
}

#[test]
fn settings_reach_every_key() {
    let spec = read(
        GOOD,
        &[
            "server.kind=apache",
            "server.workers=64",
            "server.cpus=1",
            "factor.0.levels=[1, 3]",
            "factor.0.levels.1=4",
            "design.repeats=3",
            "design.order = random",
            "test.duration=500ms",
            "workload.timeout=1s",
            "capacity.rate=12.5",
            "gate.differentiation=0.9",
        ],
    )
    .unwrap();
    assert_eq!(spec.server.kind, Kind::Apache(Mpm::Prefork));
    assert_eq!((spec.server.workers, spec.server.cpus.clone()), (64, Cpus::one(1)));
    assert_eq!((levels(&spec), spec.repeats, spec.order), (vec![1.0, 4.0], 3, Order::Random));
    assert_eq!(spec.test.duration, Span::from_millis(500));
    assert_eq!(spec.workload.timeout, Span::from_secs(1), "laid over the file's");
    assert_eq!(spec.workload.classes.len(), 2, "the rest of the file stays");
    assert!(matches!(spec.capacity, Capacity::Stated(rate) if rate.as_f64() == 12.5));
    let again = read(&spec.text, &[]).unwrap();
    assert_eq!(again.gate.unwrap()["differentiation"].as_float(), Some(0.9), "the text has the settings");
}

#[test]
fn settings_may_need_each_other() {
    let spec = read(GOOD, &["server.kind=url", "server.url=http://127.0.0.1:80"]).unwrap();
    assert_eq!(spec.server.kind, Kind::Url("http://127.0.0.1:80".to_owned()));
    let error = read(GOOD, &["design.repeats=0", "test.warmup=2s"]).unwrap_err();
    assert_eq!(error, "--set design.repeats=0: repeats is 0; give at least 1");
}

#[test]
fn the_workload_may_stand_in_the_spec() {
    let inline = "[workload]\nkind = \"sessions\"\npage = [{ url = \"/bytes/10\" }]";
    let spec = read(&GOOD.replace("[workload]\nfile = \"bank.toml\"", inline), &[]).unwrap();
    assert_eq!(&*spec.workload.pages[0].url, "/bytes/10");
    assert_eq!(&*spec.workload.classes[0].name, "all");
}

/// What stands in the good spec, what to put instead, and what is said then.
const WRONG: &[(&str, &str, &str)] = &[
    ("title = ", "titel = ", "spec.toml:2: unknown key \"titel\"; did you mean \"title\"?"),
    ("bank.toml", "bonk.toml", "bonk.toml: cannot read it: No such file or directory (os error 2)"),
    (
        "\"bank.toml\"",
        "7",
        "spec.toml:7: key \"file\" of [workload] is not a string; give a path, relative to the spec",
    ),
    (
        "file = ",
        "flie = ",
        "spec.toml:7: [workload]: unknown key \"flie\"; expected one of kind, timeout, connections, retry, data, class, page",
    ),
    (
        "name = \"load\"",
        "name = \"lod\"",
        "spec.toml:14: factor \"lod\" is not known; did you mean \"load\"?",
    ),
    ("[0.7, 2]", "[]", "spec.toml:15: there are no levels; give multiples of the capacity"),
    (
        "[0.7, 2]",
        "[0.7, -2]",
        "spec.toml:15: level -2 is not a load; levels are multiples of the capacity, above 0",
    ),
    (
        "[0.7, 2]",
        "[0.7, 2, 0.7]",
        "spec.toml:15: level 0.7 is there twice; for more tests at one level give repeats in [design]",
    ),
    (
        "[[factor]]\nname = \"load\"\nlevels = [0.7, 2]",
        "",
        "spec.toml: there is not a factor; add [[factor]] with name = \"load\" and levels = [0.7, 1, 2, 3]",
    ),
    (
        "[test]",
        "[[factor]]\nname = \"load\"\nlevels = [1]\n[test]",
        "spec.toml:18: factor \"load\" is there twice",
    ),
    (
        "[test]",
        "[[factor]]\nname = \"server.worker\"\nlevels = [1]\n[test]",
        "spec.toml:18: factor \"server.worker\" at level 1: unknown key \"worker\"; did you mean \"workers\"?",
    ),
    (
        "[test]",
        "[[factor]]\nname = \"servr.workers\"\nlevels = [1]\n[test]",
        "spec.toml:18: factor \"servr.workers\" is not known; did you mean \"server.workers\"?",
    ),
    (
        "[test]",
        "[[factor]]\nname = \"workers\"\nlevels = [1]\n[test]",
        "spec.toml:18: factor \"workers\" is not known; vary \"load\", a setting of the gate such as \
         \"gate.look-ahead\", or a value of the spec such as \"server.workers\" or \"cgroup.cpu\"",
    ),
    (
        "[test]",
        "[[factor]]\nname = \"gate.class.basic.weight\"\nlevels = []\n[test]",
        "spec.toml:19: there are no levels; give the values that it is to have",
    ),
    (
        "[test]",
        "[[factor]]\nname = \"gate.window.min.x\"\nlevels = [1]\n[test]",
        "spec.toml:18: factor \"gate.window.min.x\": \"window\" is a value and has no keys",
    ),
    (
        "[test]",
        "[[factor]]\nname = \"gate.favour\"\nlevels = [0, 1]\ndefault = 0.5\n[test]",
        "spec.toml:20: default 0.5 is not one of the levels; add it to them",
    ),
    (
        "[gate]\nwindow = 2",
        "[[factor]]\nname = \"gate.favour\"\nlevels = [0, 1]",
        "spec.toml:11: factor \"gate.favour\" is one of the gate and there is no [gate]; \
         add [gate]; it may be empty",
    ),
    (
        "name = \"load\"\nlevels = [0.7, 2]",
        "name = \"gate.window\"\nlevels = [1, \"adaptive\"]",
        "spec.toml: level \"adaptive\" of the first factor is not a number; \
         figures are drawn against the first factor; put \"load\" first",
    ),
    (
        "name = \"load\"\nlevels = [0.7, 2]",
        "name = \"gate.favour\"\nlevels = [0, 1]",
        "spec.toml: \"load\" is not a factor; \
         add [[factor]] with name = \"load\" and levels = [0.7, 1, 2, 3]",
    ),
    (
        "[test]",
        "[design]\nconstant = { premum = 0.4 }\n[test]",
        "spec.toml:18: the workload has no class \"premum\"; did you mean \"premium\"?",
    ),
    (
        "[test]",
        "[design]\nconstant = { premium = 0 }\n[test]",
        "spec.toml:18: the load of premium is 0; give times the capacity, above 0",
    ),
    (
        "[test]",
        "[design]\nconstant = { premium = 0.1, basic = 0.1 }\n[test]",
        "spec.toml:18: no class is left to take the rest of the load; leave one out",
    ),
    (
        "[test]",
        "[design]\nconstant = { premium = 0.7 }\n[test]",
        "spec.toml:18: at level 0.7 nothing is left for others: constant classes take 0.7; \
         leave such levels out, or give the classes less",
    ),
    (
        "duration = \"4s\"",
        "duration = \"0s\"",
        "spec.toml:19: duration is 0; give a time above 0, such as \"8s\"",
    ),
    (
        "duration = \"4s\"",
        "duration = \"soon\"",
        "spec.toml:19: cannot read \"soon\": expected a length of time such as 30s, 250ms, 5m or 2h",
    ),
    ("warmup = \"1s\"\n", "", "spec.toml:17: key \"warmup\" is missing"),
    (
        "concurrency = 4\n",
        "",
        "spec.toml:21: [capacity] says neither what it is nor how to find it; \
         give rate in sessions per second, or concurrency and duration, both above 0",
    ),
    (
        "concurrency = 4",
        "rate = 0",
        "spec.toml:21: the capacity is 0; give a rate above 0, or concurrency and duration to find it",
    ),
    ("[test]", "[design]\nrepeats = 0\n[test]", "spec.toml:18: repeats is 0; give at least 1"),
    (
        "[test]",
        "[design]\nsubjects = []\n[test]",
        "spec.toml:18: there are no subjects; give \"bare\", \"gate\" or both",
    ),
    ("[test]", "[design]\nsubjects = [\"bare\", \"bare\"]\n[test]", "spec.toml:18: a subject is there twice"),
    (
        "[test]",
        "[design]\nsubjects = [\"haproxy\"]\n[test]",
        "spec.toml:18: \"haproxy\" is a subject and there is no [peers]; \
         add [peers] with premium, window, patience, others and newcomers",
    ),
    (
        "[gate]\nwindow = 2",
        "[design]\nsubjects = [\"gate\"]",
        "spec.toml:11: \"gate\" is a subject and there is no [gate]; \
         add [gate] with the gate's settings; listen, admin and upstream are filled in by the lab",
    ),
];

/// Puts what is wrong into the good spec, piece by piece.
fn refused(wrong: &[(&str, &str, &str)]) {
    refused_of(GOOD, wrong);
}

fn refused_of(good: &str, wrong: &[(&str, &str, &str)]) {
    for (what, instead, expected) in wrong {
        assert!(good.contains(what), "{what}");
        let error = read(&good.replacen(what, instead, 1), &[]).unwrap_err();
        assert_eq!(error, *expected, "{what} -> {instead}");
    }
}

#[test]
fn what_is_wrong_is_said_with_place_and_mend() {
    refused(WRONG);
}

#[test]
fn a_wrong_setting_is_named() {
    for (setting, expected) in [
        ("server.kind", "--set server.kind: write it as key=value, such as server.kind=apache"),
        ("=1", "--set =1: write it as key=value, such as server.kind=apache"),
        ("server..kind=x", "--set server..kind=x: write it as key=value, such as server.kind=apache"),
        ("server.kind=apach", "--set server.kind=apach: unknown value \"apach\"; did you mean \"apache\"?"),
        ("sever.kind=apache", "--set sever.kind=apache: unknown key \"sever\"; did you mean \"server\"?"),
        ("server.kind.x=1", "--set server.kind.x=1: \"kind\" is a value and has no keys"),
        (
            "factor.levels=[1]",
            "--set factor.levels=[1]: \"factor\" is a list of 1; name one by its number, such as factor.0",
        ),
        (
            "workload.tiemout=1s",
            "--set workload.tiemout=1s: [workload]: unknown key \"tiemout\"; did you mean \"timeout\"?",
        ),
        ("design.repeats=0", "--set design.repeats=0: repeats is 0; give at least 1"),
    ] {
        assert_eq!(read(GOOD, &[setting]).unwrap_err(), expected);
    }
}

const PEERS: &str = r#"[peers]
premium = "tier=premium"
window = 1
patience = "500ms"
others = 8
newcomers = 4

[test]"#;

#[test]
fn peers_are_told_whom_to_favour() {
    let text = GOOD.replace("[test]", PEERS);
    let settings = ["design.subjects=[\"gate\", \"haproxy\", \"nginx\", \"mod_qos\"]"];
    let spec = read(&text, &settings).unwrap();
    assert_eq!(spec.subjects, [Subject::Gate, Subject::Haproxy, Subject::Nginx, Subject::ModQos]);
    let contenders = spec.contenders.unwrap();
    assert_eq!((&*contenders.cookie, &*contenders.value), ("tier", "premium"));
    assert_eq!((contenders.window, contenders.others, contenders.newcomers), (1, 8, 4));
    assert_eq!(contenders.patience, Span::from_millis(500));
    for (what, instead, expected) in [
        ("tier=premium", "tier", "spec.toml:18: \"tier\" is not a cookie; "),
        ("tier=premium", "tier=\\\"; drop", "spec.toml:18: \"tier=\"; drop\" is not a cookie; "),
        ("window = 1", "window = 0", "spec.toml:19: window is 0; give at least 1"),
        ("500ms", "1us", "spec.toml:20: patience is less than 1 ms; give more"),
        ("newcomers = 4", "newcomers = 9", "spec.toml:22: there are more newcomers than others; "),
        ("others = 8\n", "", "spec.toml:17: key \"others\" is missing"),
    ] {
        let error = read(&text.replace(what, instead), &[]).unwrap_err();
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn a_constant_class_keeps_its_load_and_others_take_the_rest() {
    let spec = read(GOOD, &["design.constant.premium=0.4"]).unwrap();
    for (load, premium) in [(0.7, 0.4 / 0.7), (2.0, 0.2)] {
        let table = spec.workload_at(load).unwrap();
        let text = toml::to_string(&table).unwrap();
        let shares = Workload::parse(&Source::new("", text)).unwrap().shares();
        assert!((shares[0] - premium).abs() < 1e-12 && (shares[1] - 1.0 + premium).abs() < 1e-12);
    }
    let spec = read(GOOD, &[]).unwrap();
    assert_eq!(spec.workload_at(2.0), None, "the same workload at all levels");
}

#[test]
fn what_is_left_by_constant_classes_goes_by_the_shares_of_the_others() {
    let classes = "workload.class=[{ name = \"a\", share = 0.5 }, { name = \"b\", share = 0.3 }, \
                   { name = \"c\", share = 0.2 }]";
    let spec = read(GOOD, &[classes, "design.constant={ a = 0.5 }"]).unwrap();
    let shares = spec.shares_at(2.0);
    for (share, expected) in shares.iter().zip([0.25, 0.45, 0.3]) {
        assert!((share - expected).abs() < 1e-12, "{shares:?}");
    }
}

#[test]
fn a_setting_of_the_gate_is_put_where_it_belongs() {
    let gate = "gate.class=[{ name = \"premium\" }, { name = \"basic\", weight = 2 }]";
    let spec = read(GOOD, &[gate]).unwrap();
    let own = [("class.basic.target-queue".to_owned(), Value::Integer(20))];
    let table = spec.gate_with(&own).unwrap();
    let basic = table["class"][1].as_table().unwrap();
    assert_eq!((basic["target-queue"].as_integer(), basic["weight"].as_integer()), (Some(20), Some(2)));
    assert_eq!(table["window"].as_integer(), Some(2), "the rest stays");
    assert_eq!(spec.gate_with(&[]), spec.gate);
}

#[test]
fn a_knob_on_the_axis_is_of_the_gate_alone() {
    let axis = ["factor=[{ name = \"gate.favour\", levels = [0, 1] }, { name = \"load\", levels = [2] }]"];
    assert_eq!(read(GOOD, &axis).unwrap().subjects, [Subject::Gate]);
    let error = read(GOOD, &[axis[0], "design.subjects=[\"bare\", \"gate\"]"]).unwrap_err();
    assert!(error.contains("which \"bare\" has not; leave it out, or put \"load\" first"), "{error}");
}
