//! The configuration file as people write it.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

use config::{Quantity, Spanned, quantity};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::{self, DeserializeOwned, Deserializer, MapAccess, SeqAccess, Visitor};
use units::{Bytes, Ratio, Span};

use super::front::{Http2Table, ListenerTable};
use super::strictness::StrictnessFile;
use super::telemetry::TelemetryFile;
use super::tunnels::TunnelsFile;
use super::upstream::UpstreamFile;
use super::{admin, operation, reject};
use crate::forwarded::Style;

/// The whole file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct File {
    pub(super) listen: Option<Spanned<String>>,
    #[serde(default)]
    pub(super) listener: Vec<ListenerTable>,
    #[serde(default)]
    pub(super) http2: Http2Table,
    pub(super) forwarded: Option<Style>,
    pub(super) trusted_proxies: Option<Texts>,
    pub(super) admin: Option<TextOr<admin::File>>,
    pub(super) backlog: Option<Spanned<u32>>,
    pub(super) upstream: TextOr<UpstreamFile>,
    #[serde(default)]
    pub(super) mode: Mode,
    #[serde(default, with = "quantity::optional")]
    #[schemars(with = "Option<config::Quantity<Ratio>>")]
    pub(super) differentiation: Option<Ratio>,
    #[serde(default, with = "quantity::optional")]
    #[schemars(with = "Option<config::Quantity<Ratio>>")]
    pub(super) favour: Option<Ratio>,
    pub(super) look_ahead: Option<Spanned<TextOr<u32>>>,
    #[serde(default, with = "quantity::optional")]
    #[schemars(with = "Option<config::Quantity<Span>>")]
    pub(super) period: Option<Span>,
    pub(super) gains: Option<Spanned<Gains>>,
    pub(super) window: Option<Spanned<Window>>,
    #[serde(default, with = "quantity::optional")]
    #[schemars(with = "Option<config::Quantity<Ratio>>")]
    pub(super) client_share: Option<Ratio>,
    pub(super) explain: Option<Texts>,
    pub(super) class: Option<Vec<Class>>,
    #[serde(default)]
    pub(super) rule: Vec<Rule>,
    #[serde(default)]
    pub(super) raise: Vec<Rule>,
    #[serde(default)]
    pub(super) limits: Limits,
    #[serde(default)]
    pub(super) deadlines: Deadlines,
    #[serde(default)]
    pub(super) session: Session,
    #[serde(default)]
    pub(super) reject: reject::File,
    #[serde(default)]
    pub(super) client: Client,
    #[serde(default)]
    pub(super) operation: operation::File,
    #[serde(default)]
    pub(super) telemetry: TelemetryFile,
    #[serde(default)]
    pub(super) strictness: StrictnessFile,
    #[serde(default)]
    pub(super) tunnels: TunnelsFile,
}

#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Mode {
    #[default]
    Enforce,
    Shadow,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Gains {
    pub(super) q0: f64,
    pub(super) q1: f64,
}

/// `8`, `"adaptive"` or bounds.
#[derive(Debug, Clone, Copy)]
pub(super) enum Window {
    Fixed(u32),
    Adaptive,
    Bounds(Bounds),
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Bounds {
    pub(super) min: Option<u32>,
    pub(super) max: Option<u32>,
    pub(super) initial: Option<u32>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Class {
    pub(super) name: Spanned<String>,
    pub(super) weight: Option<Spanned<f64>>,
    pub(super) target_queue: Option<u32>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Rule {
    pub(super) class: Spanned<String>,
    pub(super) host: Option<Texts>,
    pub(super) path: Option<Texts>,
    pub(super) query: Option<Texts>,
    pub(super) header: Option<Texts>,
    pub(super) cookie: Option<Texts>,
    pub(super) address: Option<Texts>,
    pub(super) server_name: Option<Texts>,
    pub(super) method: Option<Texts>,
    pub(super) when: Option<Spanned<String>>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Limits {
    pub(super) burst: Option<Spanned<u32>>,
    pub(super) acceptor_queue: Option<Spanned<u32>>,
    pub(super) pending_queue: Option<Spanned<u32>>,
    pub(super) class_queues: Option<Spanned<u32>>,
    pub(super) discard_queues: Option<Spanned<u32>>,
    pub(super) discard_periods: Option<u32>,
    pub(super) connections: Option<Spanned<u32>>,
    #[serde(default, with = "quantity::optional")]
    #[schemars(with = "Option<config::Quantity<Bytes>>")]
    pub(super) memory: Option<Bytes>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Deadlines {
    #[serde(default, with = "quantity::optional")]
    #[schemars(with = "Option<config::Quantity<Span>>")]
    pub(super) acceptor: Option<Span>,
    #[serde(default, with = "quantity::optional")]
    #[schemars(with = "Option<config::Quantity<Span>>")]
    pub(super) pending: Option<Span>,
    #[serde(default, with = "quantity::optional")]
    #[schemars(with = "Option<config::Quantity<Span>>")]
    pub(super) discard: Option<Span>,
    #[serde(default, with = "quantity::optional")]
    #[schemars(with = "Option<config::Quantity<Span>>")]
    pub(super) class: Option<Span>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Session {
    pub(super) cookie: Option<Spanned<String>>,
    pub(super) site: Option<String>,
    pub(super) secret: Option<Spanned<String>>,
    pub(super) secret_file: Option<Spanned<String>>,
    pub(super) previous_secret: Option<Spanned<String>>,
    pub(super) previous_secret_file: Option<Spanned<String>>,
    pub(super) idle: Option<Spanned<Quantity<Span>>>,
    pub(super) absolute: Option<Spanned<Quantity<Span>>>,
    pub(super) secure: Option<bool>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Client {
    #[serde(default, with = "quantity::optional")]
    #[schemars(with = "Option<config::Quantity<Span>>")]
    pub(super) header_timeout: Option<Span>,
    #[serde(default, with = "quantity::optional")]
    #[schemars(with = "Option<config::Quantity<Span>>")]
    pub(super) idle_timeout: Option<Span>,
    #[serde(default, with = "quantity::optional")]
    #[schemars(with = "Option<config::Quantity<Span>>")]
    pub(super) stall_timeout: Option<Span>,
    #[serde(default, with = "quantity::optional")]
    #[schemars(with = "Option<config::Quantity<Span>>")]
    pub(super) drain_timeout: Option<Span>,
}

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

impl<'de> Deserialize<'de> for Window {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AnyWindow;
        impl<'de> Visitor<'de> for AnyWindow {
            type Value = Window;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, \"adaptive\", or a table of min, max and initial")
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Window, E> {
                let unexpected = || E::invalid_value(de::Unexpected::Signed(number), &self);
                u32::try_from(number).map(Window::Fixed).map_err(|_| unexpected())
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Window, E> {
                match text {
                    "adaptive" => Ok(Window::Adaptive),
                    _ => Err(E::invalid_value(de::Unexpected::Str(text), &self)),
                }
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Window, A::Error> {
                Bounds::deserialize(de::value::MapAccessDeserializer::new(map)).map(Window::Bounds)
            }
        }
        deserializer.deserialize_any(AnyWindow)
    }
}
