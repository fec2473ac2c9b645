//! The JSON Schema of the configuration says what the gate reads.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::fs;
use std::path::{Path, PathBuf};

use gate::Settings;
use serde_json::Value;

fn docs(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name)
}

#[track_caller]
fn json(text: &str) -> Value {
    serde_json::to_value(text.parse::<toml::Table>().unwrap_or_else(|error| panic!("{error}\n{text}")))
        .unwrap()
}

fn validator() -> jsonschema::Validator {
    jsonschema::draft202012::new(&Settings::schema()).unwrap()
}

#[test]
fn the_checked_in_schema_is_current() {
    let path = docs("gate.schema.json");
    let current = format!("{:#}\n", Settings::schema());
    let there = fs::read_to_string(&path).unwrap_or_default();
    assert!(there == current, "{} is old; headworks gate schema prints the present one", path.display());
}

#[test]
fn every_example_of_the_manual_is_valid() {
    let (manual, validator) = (fs::read_to_string(docs("gate.md")).unwrap(), validator());
    let mut examples = 0;
    for block in manual.split("```toml\n").skip(1) {
        let text = block.split("```").next().unwrap();
        let errors: Vec<String> = validator
            .iter_errors(&json(text))
            .map(|error| format!("{} {error}", error.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{errors:#?}\n{text}");
        examples += 1;
    }
    assert!(examples >= 2);
}

#[test]
fn mistakes_are_not() {
    const MINIMAL: &str = "listen = '127.0.0.1:0'\nupstream = '127.0.0.1:8000'\n";
    let validator = validator();
    assert!(validator.is_valid(&json(MINIMAL)));
    for wrong in [
        "widow = 3",
        "window = 'adaptve'",
        "window = 0",
        "mode = 'shadw'",
        "explain = true",
        "admin = 9090",
        "[admin]\ntoken_file = 'x'",
        "[rule]\nclass = 'premium'",
        "[[rule]]\npath = '/'",
        "[[raise]]\nclass = 'premium'\nwhen = 5",
        "[reject]\nstatus = 'busy'",
        "[session]\nidle = true",
        "[limits]\nburst = 'many'",
    ] {
        assert!(!validator.is_valid(&json(&format!("{MINIMAL}{wrong}\n"))), "{wrong}");
    }
    assert!(!validator.is_valid(&json("listen = '127.0.0.1:0'")), "the upstream is needed");
    assert!(validator.is_valid(&json("attach = true")), "unless the gate is under its server");
}
