//! Whatever stands in a file, what is written is a workload.

use config::Source;
use proptest::prelude::*;
use serde_json::json;
use traffic::import::{Format, ImportError, Options, import};

/// Texts with what means something in URLs, heads, TOML and templates.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-zA-Z0-9/?&=._~-]{0,12}",
        "(\\$|\\{|\\}|\"|'|\\\\|@|#|%|;|:|/|a|1|\n|\r|\t|\u{0}|\u{7f}|\u{85}|\u{2028}|ü| ){0,12}",
        any::<String>(),
    ]
}

fn check(text: &str) -> Result<(), TestCaseError> {
    for all in [false, true] {
        for secrets in [false, true] {
            let options = Options { all, secrets, ..Options::default() };
            if let Err(ImportError::Internal(why)) = import(&Source::new("a", text), &options) {
                return Err(TestCaseError::fail(format!("{why}\n{text}")));
            }
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn recordings_become_workloads(texts in proptest::collection::vec(text(), 9), status in 0..700_i64) {
        let [path, second, name, field, body, mime, title, key, value] = &texts[..] else { unreachable!() };
        let entry = |path: &str, method: &str| json!({
            "startedDateTime": "2026-01-31T12:00:00Z", "time": 5, "pageref": "p",
            "request": {
                "method": method, "url": format!("http://a/{path}"),
                "headers": [
                    {"name": name, "value": field},
                    {"name": "Cookie", "value": format!("a={value}; {key}={body}")},
                    {"name": "X-Token", "value": value},
                ],
                "postData": {"mimeType": mime, "text": body},
            },
            "response": {
                "status": status, "headers": [{"name": key, "value": value}], "redirectURL": path,
                "content": {"mimeType": "application/json", "text": json!({key.as_str(): value, "token": format!("1234567{value}")}).to_string()},
            },
        });
        let later = entry(&format!("1234567{value}"), mime);
        let entries = [entry(path, "GET"), entry(second, "POST"), later, entry(value, "PUT")];
        check(&json!({"log": {"pages": [{"id": "p", "title": title}], "entries": entries}}).to_string())?;
    }

    #[test]
    fn descriptions_become_workloads(texts in proptest::collection::vec(text(), 7), place in 0..3_usize, bounds in any::<(i64, i64)>()) {
        let [base, path, name, example, mime, pattern, status] = &texts[..] else { unreachable!() };
        let place = ["path", "query", "header"][place];
        let schema = json!({"type": "object", "properties": {
            "id": {"type": "integer", "minimum": bounds.0, "maximum": bounds.1},
            name.as_str(): {"type": "string", "pattern": pattern},
            "b": {"example": example},
        }});
        let response = json!({"content": {"application/json": {"schema": schema}}});
        let operation = json!({
            "summary": example,
            "parameters": [{"name": name, "in": place, "required": true, "example": example}],
            "requestBody": {"content": {mime: {"schema": {"example": example}}, "application/json": {"schema": schema}}},
            "responses": {"201": response, status: {}},
        });
        let plain = json!({"requestBody": {"content": {"text/plain": {"example": example}}}, "responses": {}});
        let (above, below) = (format!("/{path}"), format!("/{path}/{{{name}}}"));
        let paths = json!({above: {"post": operation, "get": plain}, below: {"get": operation, "delete": operation}});
        check(&json!({"openapi": "3.0.0", "servers": [{"url": base}], "paths": paths}).to_string())?;
    }

    #[test]
    fn what_is_no_file_of_either_kind_is_refused(text in "(openapi: 3\n|paths:|  /a: |get:|\\{|\\}|\\[|\\]|- |\\||>|&a |\\*a|<<: |\"|'|#|!!str |\\? |---\n|,|:|\n| |\t|ü|%){0,40}") {
        for format in [None, Some(Format::Har), Some(Format::OpenApi)] {
            let options = Options { format, ..Options::default() };
            let is_refused = import(&Source::new("a", text.as_str()), &options).is_err();
            prop_assert!(is_refused);
        }
    }
}
