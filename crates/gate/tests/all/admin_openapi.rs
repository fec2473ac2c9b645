//! The description of the admin interface is true: everything in it is there and answers as
//! described, and nothing else is there.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use crate::common::{Gate, echo, session};
use serde_json::{Value, json};

/// The schema of an answer, with the definitions it refers to.
fn schema(description: &Value, schema: &Value) -> jsonschema::Validator {
    let mut schema = schema.clone();
    schema["components"] = description["components"].clone();
    jsonschema::draft202012::new(&schema).unwrap()
}

/// A body that the operation takes.
fn body(operation: &str) -> Option<&'static str> {
    match operation {
        "moveKnobs" => Some("{\"favour\": 0.5}"),
        "setClass" => Some("{\"class\": \"premium\"}"),
        "setMode" => Some("{\"mode\": \"enforce\"}"),
        "foresee" => Some("{\"knobs\": [{\"differentiation\": 1, \"favour\": 0}]}"),
        _ => None,
    }
}

#[test]
fn everything_described_answers_as_described() {
    let server = echo("");
    let gate = Gate::start(server.address(), "[waiting-room]\nenabled = true\n");
    let cookie = session(&gate.get("/", ""));
    assert_eq!(gate.get("/", &cookie).status, 200);
    let description: Value =
        serde_json::from_slice(&gate.ask("GET", "/api/v1/openapi.json", "").body).unwrap();
    assert_eq!(description["openapi"], "3.1.0");
    let mut asked = 0;
    for (path, operations) in description["paths"].as_object().unwrap() {
        let mut methods = Vec::new();
        for (method, operation) in operations.as_object().unwrap() {
            methods.push(method.to_ascii_uppercase());
            let name = operation["operationId"].as_str().unwrap();
            let content = operation["responses"]["200"]["content"].as_object().unwrap();
            let (media, described) = content.iter().next().unwrap();
            if media == "text/event-stream" {
                continue;
            }
            let place = path.replace("{id}", "ab");
            let answer = gate.ask(&method.to_ascii_uppercase(), &place, body(name).unwrap_or_default());
            assert_eq!(answer.status, 200, "{method} {path}: {}", answer.text());
            assert!(answer.header("content-type").unwrap().starts_with(media.as_str()), "{method} {path}");
            if media == "application/json" {
                let answer: Value = serde_json::from_slice(&answer.body).unwrap();
                let validator = schema(&description, &described["schema"]);
                let errors: Vec<String> =
                    validator.iter_errors(&answer).map(|error| error.to_string()).collect();
                assert!(errors.is_empty(), "{method} {path}: {errors:?} in {answer}");
                // A schema that takes anything describes nothing.
                assert!(name == "openapi" || !validator.is_valid(&json!([])), "{method} {path}");
            }
            if let Some(body) = body(name) {
                let described = &operation["requestBody"]["content"]["application/json"]["schema"];
                assert!(schema(&description, described).is_valid(&serde_json::from_str(body).unwrap()));
                assert!(!schema(&description, described).is_valid(&json!({ "nonsense": 1 })));
            }
            if name == "drain" {
                assert_eq!(gate.ask("DELETE", path, "").status, 200);
            }
            asked += 1;
        }
        for method in ["GET", "POST", "PUT", "PATCH", "DELETE"] {
            if methods.iter().any(|known| known == method) {
                continue;
            }
            let refused = gate.ask(method, &path.replace("{id}", "ab"), "");
            assert_eq!(refused.status, 405, "{method} {path}");
            let allowed = refused.header("allow").unwrap();
            for known in &methods {
                assert!(allowed.contains(known.as_str()), "{method} {path}: {allowed}");
            }
        }
    }
    assert!(asked >= 9, "{asked}");
}

#[test]
fn what_is_wrong_is_answered_as_described() {
    let server = echo("");
    let gate = Gate::start(server.address(), "");
    let description: Value =
        serde_json::from_slice(&gate.ask("GET", "/api/v1/openapi.json", "").body).unwrap();
    let validator = schema(&description, &json!({ "$ref": "#/components/schemas/Problem" }));
    for (method, path, body, status) in [
        ("GET", "/api", "", 404),
        ("GET", "/api/v1/state/", "", 404),
        ("GET", "/api/v1/sessions/xyz/class", "", 405),
        ("POST", "/api/v1/sessions/xyz/class", "{\"class\": \"premium\"}", 400),
        ("POST", "/api/v1/sessions/1/class", "{\"class\": \"gold\"}", 400),
        ("POST", "/api/v1/sessions/1/class", "{}", 400),
        ("GET", "/api/v1/queue?limit=0", "", 400),
        ("PATCH", "/api/v1/knobs", "{\"favour\": 1e999}", 400),
    ] {
        let answer = gate.ask(method, path, body);
        assert_eq!(answer.status, status, "{method} {path}");
        assert!(validator.is_valid(&serde_json::from_slice(&answer.body).unwrap()), "{}", answer.text());
    }
}
