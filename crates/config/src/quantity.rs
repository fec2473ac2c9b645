//! serde for quantities with units: `timeout = "2s"`, `rate = "10k"`, or a bare number.
//!
//! Use as `#[serde(with = "config::quantity")]` on any type that implements `FromStr` and
//! `Display`, and as `#[serde(default, with = "config::quantity::optional")]` on an `Option`.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{Deserializer, Error, Visitor};
use serde::ser::Serializer;

/// A quantity as a type of its own, for where it stands inside of another. It is also what a
/// quantity is in a JSON Schema: `#[schemars(with = "Option<config::Quantity<T>>")]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quantity<T>(pub T);

impl<'de, T> Deserialize<'de> for Quantity<T>
where
    T: FromStr,
    T::Err: fmt::Display,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize(deserializer).map(Self)
    }
}

impl<T> JsonSchema for Quantity<T> {
    fn schema_name() -> Cow<'static, str> {
        "Quantity".into()
    }

    fn schema_id() -> Cow<'static, str> {
        "config::Quantity".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A number, or a string of a number and a unit",
            "type": ["number", "string"],
        })
    }
}

struct Reader<T>(PhantomData<T>);

impl<T> Visitor<'_> for Reader<T>
where
    T: FromStr,
    T::Err: fmt::Display,
{
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, or a string of a number and a unit")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(|why| E::custom(format!("cannot read \"{text}\": {why}")))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<T, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<T, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<T, E> {
        self.visit_str(&number.to_string())
    }
}

/// Reads a quantity from a string or a bare number.
///
/// # Errors
/// When `T` cannot be parsed from it.
pub fn deserialize<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr,
    T::Err: fmt::Display,
{
    deserializer.deserialize_any(Reader(PhantomData))
}

/// Writes a quantity as its text.
///
/// # Errors
/// When the serializer fails.
pub fn serialize<S: Serializer, T: fmt::Display>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

/// The same for a setting that may be left out.
pub mod optional {
    use super::{Deserializer, FromStr, Serializer, fmt};

    /// Reads a quantity that is there.
    ///
    /// # Errors
    /// When `T` cannot be parsed from it.
    pub fn deserialize<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
    where
        D: Deserializer<'de>,
        T: FromStr,
        T::Err: fmt::Display,
    {
        super::deserialize(deserializer).map(Some)
    }

    /// Writes the quantity's text, or none.
    ///
    /// # Errors
    /// When the serializer fails.
    pub fn serialize<S: Serializer, T: fmt::Display>(
        value: &Option<T>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => serializer.collect_str(value),
            None => serializer.serialize_none(),
        }
    }
}
