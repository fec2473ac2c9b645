//! OTLP's JSON for attributes and times: numbers of 64 bits are text there.

use serde_json::{Value, json};

/// One attribute, if there is a value.
pub fn attribute(key: &str, value: Option<Value>) -> Option<Value> {
    Some(json!({ "key": key, "value": value? }))
}

/// Of a text.
pub fn text(text: impl Into<String>) -> Option<Value> {
    Some(json!({ "stringValue": text.into() }))
}

/// Of a whole number.
pub fn integer(number: u64) -> Option<Value> {
    Some(json!({ "intValue": number.to_string() }))
}

/// Of a time in seconds.
pub fn seconds(seconds: f64) -> Option<Value> {
    Some(json!({ "doubleValue": seconds }))
}

/// Nanoseconds since 1970.
pub fn time(nanoseconds: i128) -> Value {
    json!(nanoseconds.max(0).to_string())
}

/// Who sends it.
pub fn resource(service: &str) -> Value {
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

/// What of the program it is from: `headworks.gate`, for example.
pub fn scope(name: &str) -> Value {
    json!({ "name": name, "version": env!("CARGO_PKG_VERSION") })
}
