//! Texts of the file, with their places: one or several, or something else instead.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

use config::Spanned;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{self, DeserializeOwned, Deserializer, MapAccess, SeqAccess, Visitor};

/// One text or a list of them, each with its place, and the place of all.
#[derive(Debug)]
pub(super) struct Texts(pub(super) Vec<Spanned<String>>, pub(super) Range<usize>);

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let place = Spanned::<OneOrMany>::deserialize(deserializer)?;
        let span = place.span();
        let texts = match place.into_inner() {
            OneOrMany::One(text) => vec![Spanned::new(span.clone(), text)],
            OneOrMany::Many(texts) => texts,
        };
        Ok(Self(texts, span))
    }
}

#[derive(Debug)]
enum OneOrMany {
    One(String),
    Many(Vec<Spanned<String>>),
}

impl<'de> Deserialize<'de> for OneOrMany {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = OneOrMany;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or a list of strings")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<OneOrMany, E> {
                Ok(OneOrMany::One(text.to_owned()))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<OneOrMany, A::Error> {
                let mut texts = Vec::new();
                while let Some(text) = list.next_element()? {
                    texts.push(text);
                }
                Ok(OneOrMany::Many(texts))
            }
        }
        deserializer.deserialize_any(Either)
    }
}

/// A text, or something else: `upstream = "127.0.0.1:80"` or a table, `look-ahead = "auto"` or 12.
#[derive(Debug)]
pub(super) enum TextOr<T> {
    Text(Spanned<String>),
    Other(T),
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for TextOr<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let place = Spanned::<Unplaced<T>>::deserialize(deserializer)?;
        let span = place.span();
        Ok(match place.into_inner() {
            Unplaced::Text(text) => Self::Text(Spanned::new(span, text)),
            Unplaced::Other(other) => Self::Other(other),
        })
    }
}

enum Unplaced<T> {
    Text(String),
    Other(T),
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Unplaced<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either<T>(PhantomData<T>);
        impl<'de, T: DeserializeOwned> Visitor<'de> for Either<T> {
            type Value = Unplaced<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let other = if std::any::type_name::<T>() == "u32" { "whole number" } else { "table" };
                write!(f, "a string or a {other}")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Unplaced<T>, E> {
                Ok(Unplaced::Text(text.to_owned()))
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Unplaced<T>, E> {
                if std::any::type_name::<T>() != "u32" {
                    return Err(E::invalid_type(de::Unexpected::Signed(number), &self));
                }
                T::deserialize(de::value::I64Deserializer::new(number)).map(Unplaced::Other)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Unplaced<T>, A::Error> {
                T::deserialize(de::value::MapAccessDeserializer::new(map)).map(Unplaced::Other)
            }
        }
        deserializer.deserialize_any(Either(PhantomData))
    }
}

impl JsonSchema for Texts {
    fn schema_name() -> Cow<'static, str> {
        "Texts".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [
                { "type": "string" },
                { "type": "array", "items": { "type": "string" } },
            ],
        })
    }
}

impl<T: JsonSchema> JsonSchema for TextOr<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("TextOr{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let other = generator.subschema_for::<T>();
        json_schema!({ "anyOf": [{ "type": "string" }, other] })
    }
}
