//! What a person is told when a file is wrong.
#![allow(clippy::expect_used, reason = "a panic is how a test fails")]

use config::{Source, Spanned};
use units::{Rate, Span};

#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code, reason = "only parsed")]
struct Spec {
    kind: Kind,
    #[serde(with = "config::quantity")]
    timeout: Span,
    class: Option<Spanned<String>>,
}

#[derive(Debug, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Fixed,
    Adaptive,
}

#[track_caller]
fn check(text: &str, expected: &str) {
    let error = Source::new("a.toml", text).parse::<Spec>().expect_err("the text is wrong");
    assert_eq!(error.to_string(), expected);
}

#[test]
fn errors_name_place_thing_and_mend() {
    check(
        "kind = 'fixed'\ntimeout = '2s'\n\ntimout = '3s'",
        "a.toml:4: unknown key \"timout\"; did you mean \"timeout\"?",
    );
    check(
        "kind = 'adaptve'\ntimeout = '2s'",
        "a.toml:1: unknown value \"adaptve\"; did you mean \"adaptive\"?",
    );
    check("kind = 'x'\ntimeout = '2s'", "a.toml:1: unknown value \"x\"; expected one of fixed, adaptive");
    check("kind = 'fixed'", "a.toml:1: key \"timeout\" is missing");
    check(
        "kind = 'fixed'\ntimeout = 'soon'",
        "a.toml:2: cannot read \"soon\": expected a length of time such as 30s, 250ms, 5m or 2h",
    );
}

#[test]
fn syntax_errors_have_a_line() {
    let error = Source::new("a.toml", "kind = 'fixed'\ntimeout = ").parse::<Spec>().expect_err("cut off");
    assert_eq!(error.line(), Some(2), "{error}");
}

#[derive(Debug, serde::Deserialize)]
struct Paced {
    #[serde(with = "config::quantity")]
    rate: Rate,
}

#[test]
fn quantities_are_text_or_numbers() {
    for text in ["rate = '1.5k'", "rate = 1500", "rate = 1500.0"] {
        let paced: Paced = Source::new("a.toml", text).parse().expect("all are fine");
        assert_eq!(Some(paced.rate), Rate::per_second(1500.0));
    }
}

#[test]
fn lengths_of_time_have_a_unit() {
    check(
        "kind = 'fixed'\ntimeout = 2",
        "a.toml:2: cannot read \"2\": expected a unit behind the number, such as 30s, 250ms, 5m or 2h",
    );
}

#[test]
fn later_checks_point_into_the_file() {
    let source = Source::new("gate.toml", "kind = 'fixed'\ntimeout = '1s'\nclass = 'premum'");
    let spec: Spec = source.parse().expect("well formed");
    let class = spec.class.expect("given");
    let error = source
        .error(class.span(), format!("class \"{}\" is not defined", class.get_ref()))
        .suggest(class.get_ref(), ["premium", "basic"]);
    assert_eq!(error.to_string(), "gate.toml:3: class \"premum\" is not defined; did you mean \"premium\"?");
}
