//! [`scalar`]: texts and numbers that fit a schema.

use regex::Regex;
use serde_json::Value;

use super::super::text::Text;
use super::pattern::matching;

const UUID: &str = "0f8fad5b-d9cb-469f-a165-70867728950e";

/// A text or a number.
pub(super) enum Scalar {
    /// Between quotes in JSON.
    Quoted(Text),
    /// A number or a truth value.
    Bare(Text),
}

/// A value of a type; why not, where there is no telling.
pub(super) fn scalar(kind: &str, schema: &Value, is_path: bool) -> Result<Scalar, String> {
    match kind {
        "boolean" => Ok(Scalar::Bare(Text::literal("true"))),
        "integer" => Ok(Scalar::Bare(integer(schema, is_path))),
        "number" => Ok(Scalar::Bare(number(schema))),
        "string" => string(schema).map(Scalar::Quoted),
        other => Err(format!("nothing is made of the type {other}")),
    }
}

fn bounds(schema: &Value) -> (Option<f64>, Option<f64>) {
    let bound = |name: &str, exclusive: &str, step: f64| {
        let given = schema.get(name).and_then(Value::as_f64);
        match schema.get(exclusive) {
            Some(Value::Bool(true)) => given.map(|bound| bound + step),
            Some(Value::Number(bound)) => bound.as_f64().map(|bound| bound + step),
            _ => given,
        }
    };
    let step = if schema.get("type").and_then(Value::as_str) == Some("number") { 0.5 } else { 1.0 };
    (bound("minimum", "exclusiveMinimum", step), bound("maximum", "exclusiveMaximum", -step))
}

/// Drawn from what is allowed; without a bound 1 where it names something, which is there more likely than others.
fn integer(schema: &Value, is_path: bool) -> Text {
    let (least, most) = bounds(schema);
    let whole = |bound: f64| bound.clamp(-9e15, 9e15) as i64;
    if let Some(step) = schema.get("multipleOf").and_then(Value::as_f64).filter(|step| *step > 0.0) {
        let times = least.map_or(1.0, |least| (least / step).ceil());
        return Text::literal(whole(times * step).to_string());
    }
    let (least, most) = match (least.map(|least| whole(least.ceil())), most.map(|most| whole(most.floor()))) {
        (None, None) if is_path => return Text::literal("1"),
        (None, None) => (1, 1000),
        (Some(least), None) => (least, least.max(0).saturating_add(1000)),
        (None, Some(most)) => (most.min(1), most),
        (Some(least), Some(most)) => (least, most),
    };
    if most < 0 || least >= most {
        return Text::literal(least.max(most.min(least)).to_string());
    }
    Text::name(format!("random:{}:{most}", least.max(0)))
}

fn number(schema: &Value) -> Text {
    let value = match bounds(schema) {
        (None, None) => 1.5,
        (Some(least), None) => least.max(1.5),
        (None, Some(most)) => most.min(1.5),
        (Some(least), Some(most)) => 1.5f64.clamp(least.min(most), most),
    };
    Text::literal(value.to_string())
}

/// Whether UUIDs match and no part of one does.
fn is_uuid(pattern: &str) -> bool {
    Regex::new(pattern).is_ok_and(|pattern| pattern.is_match(UUID) && !pattern.is_match(&UUID[1..]))
}

fn string(schema: &Value) -> Result<Text, String> {
    let length =
        |name: &str| schema.get(name).and_then(Value::as_u64).and_then(|length| usize::try_from(length).ok());
    let (shortest, longest) = (length("minLength").unwrap_or(0), length("maxLength").unwrap_or(usize::MAX));
    if let Some(pattern) = schema.get("pattern").and_then(Value::as_str) {
        if is_uuid(pattern) {
            return Ok(Text::name("uuid"));
        }
        let text = matching(pattern, shortest, longest);
        return text.map(Text::literal).ok_or_else(|| format!("nothing is made for the pattern {pattern}"));
    }
    let fixed = match schema.get("format").and_then(Value::as_str).unwrap_or_default() {
        "uuid" => return Ok(Text::name("uuid")),
        "email" | "idn-email" => {
            let mut text = Text::literal("user-");
            text.append(Text::name("random"));
            text.push("@example.com");
            return Ok(text);
        }
        "date" => "2024-01-15",
        "date-time" => "2024-01-15T12:00:00Z",
        "time" => "12:00:00Z",
        "duration" => "PT1H",
        "uri" | "url" | "iri" => "https://example.com/",
        "uri-reference" => "/example",
        "hostname" => "www.example.com",
        "ipv4" | "ip" => "192.0.2.1",
        "ipv6" => "2001:db8::1",
        "byte" => "aGVhZHdvcmtz",
        "binary" => return Err("nothing is made for a file".to_owned()),
        _ => {
            if shortest > 10_000 {
                return Err(format!("nothing is made of {shortest} characters"));
            }
            let text = "text".chars().cycle().take(shortest.max(4.min(longest)));
            return Ok(Text::literal(text.collect::<String>()));
        }
    };
    Ok(Text::literal(fixed))
}
