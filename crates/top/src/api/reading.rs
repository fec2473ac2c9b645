//! [`read`]: from the bytes of a stranger to values that can be drawn.

use serde::de::DeserializeOwned;
use serde_json::{Number, Value};

use crate::text::clean;

/// No figure of a gate is larger; with some more there would be sums and scales without an end.
const LARGEST: f64 = 1e15;

/// Reads an answer. Its texts have nothing that a terminal obeys, its figures have a bound.
pub(crate) fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    let value = parse(bytes)?;
    serde_json::from_value(tame(value)).map_err(|why| clean(&why.to_string()))
}

/// Reads JSON, as it is.
pub(crate) fn parse(bytes: &[u8]) -> Result<Value, String> {
    serde_json::from_slice(bytes).map_err(|why| clean(&why.to_string()))
}

fn tame(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(clean(&text)),
        Value::Number(number) => Value::Number(bounded(number)),
        Value::Array(items) => Value::Array(items.into_iter().map(tame).collect()),
        Value::Object(fields) => {
            Value::Object(fields.into_iter().map(|(name, value)| (clean(&name), tame(value))).collect())
        }
        Value::Null | Value::Bool(_) => value,
    }
}

fn bounded(number: Number) -> Number {
    match number.as_f64() {
        Some(value) if value.abs() > LARGEST => Number::from_f64(LARGEST.copysign(value)).unwrap_or(number),
        _ => number,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_can_be_drawn() {
        let value: Value =
            read(br#"{"a\u001b": ["\u009b2J", 1e308, -1e300, 18446744073709551615, 3]}"#).unwrap();
        assert_eq!(value, serde_json::json!({ "a\u{fffd}": ["\u{fffd}2J", 1e15, -1e15, 1e15, 3] }));
        assert!(read::<Value>(b"{\"a\": 1e999}").is_err());
        assert!(read::<Value>(&[b"[".repeat(100_000), b"]".repeat(100_000)].concat()).is_err());
    }
}
