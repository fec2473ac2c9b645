//! `status`: which responses a `[[raise]]` is for.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use config::{Error, Source, Spanned};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{self, Deserializer, SeqAccess, Visitor};

use crate::rules::condition::Statuses;

/// `200`, `"2xx"` or a list of such, with its place.
#[derive(Debug)]
pub(super) struct StatusFile {
    all: Vec<String>,
    place: Range<usize>,
}

impl StatusFile {
    pub(super) fn span(&self) -> Range<usize> {
        self.place.clone()
    }

    /// The statuses that are meant.
    pub(super) fn read(&self, source: &Source) -> Result<Vec<Statuses>, Error> {
        if self.all.is_empty() {
            return Err(source
                .error(self.span(), "an empty list, so that no response would do")
                .mend("name what is to match, or leave the line out"));
        }
        let wrong = |text: &String| {
            source
                .error(self.span(), format!("\"{text}\" is not a status"))
                .mend("for example 200 or \"2xx\", from 200 to 599")
        };
        self.all.iter().map(|text| Statuses::new(text).ok_or_else(|| wrong(text))).collect()
    }
}

impl<'de> Deserialize<'de> for StatusFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let all = Spanned::<OneOrMany>::deserialize(deserializer)?;
        let place = all.span();
        Ok(Self { all: all.into_inner().0, place })
    }
}

struct OneOrMany(Vec<String>);

impl<'de> Deserialize<'de> for OneOrMany {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = OneOrMany;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a status, as 200 or \"2xx\", or a list of them")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<OneOrMany, E> {
                Ok(OneOrMany(vec![text.to_owned()]))
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<OneOrMany, E> {
                Ok(OneOrMany(vec![number.to_string()]))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<OneOrMany, A::Error> {
                let mut all = Vec::new();
                while let Some(OneOrMany(one)) = list.next_element()? {
                    all.extend(one);
                }
                Ok(OneOrMany(all))
            }
        }
        deserializer.deserialize_any(Either)
    }
}

impl JsonSchema for StatusFile {
    fn schema_name() -> Cow<'static, str> {
        "Status".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let one = json_schema!({
            "anyOf": [
                { "type": "integer", "minimum": 200, "maximum": 599 },
                { "type": "string", "pattern": "^[2-5]([0-9]{2}|xx)$" },
            ],
        });
        json_schema!({ "anyOf": [one, { "type": "array", "items": one }] })
    }
}
