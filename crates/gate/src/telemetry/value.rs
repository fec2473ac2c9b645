//! OTLP's JSON for attributes and times: numbers of 64 bits are text there.

use serde_json::{Value, json};

/// One attribute, if there is a value.
pub(super) fn attribute(key: &str, value: Option<Value>) -> Option<Value> {
    Some(json!({ "key": key, "value": value? }))
}

pub(super) fn text(text: impl Into<String>) -> Option<Value> {
    Some(json!({ "stringValue": text.into() }))
}

pub(super) fn integer(number: u64) -> Option<Value> {
    Some(json!({ "intValue": number.to_string() }))
}

pub(super) fn seconds(seconds: f64) -> Option<Value> {
    Some(json!({ "doubleValue": seconds }))
}

/// Nanoseconds since 1970.
pub(super) fn time(nanoseconds: i128) -> Value {
    json!(nanoseconds.max(0).to_string())
}

/// Who sends it.
pub(super) fn resource(service: &str) -> Value {
    let attributes: Vec<Value> = [
        attribute("service.name", text(service)),
        attribute("service.version", text(env!("CARGO_PKG_VERSION"))),
        attribute("service.instance.id", text(std::process::id().to_string())),
    ]
    .into_iter()
    .flatten()
    .collect();
    json!({ "attributes": attributes })
}

/// What of the program it is from.
pub(super) fn scope() -> Value {
    json!({ "name": "headworks.gate", "version": env!("CARGO_PKG_VERSION") })
}
