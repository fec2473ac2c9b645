//! [`Document`]: a description, and what its references stand for.

use config::{Error, Source};
use percent_encoding::percent_decode_str;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::super::{place, yaml};

/// A chain of references that is longer leads nowhere.
const LONGEST_CHAIN: usize = 32;

/// A description.
pub(super) struct Document<'s> {
    pub(super) source: &'s Source,
    pub(super) root: Value,
    /// The keys of `paths`, in the order of the file.
    pub(super) paths: Vec<String>,
    /// Swagger 2.0, where parameters are schemas themselves.
    pub(super) is_swagger: bool,
}

impl<'s> Document<'s> {
    pub(super) fn read(source: &'s Source) -> Result<Self, Error> {
        let text = place::text(source);
        let yaml::Document { value: root, paths } = if text.trim_start().starts_with('{') {
            let json = |why| place::of_json(source, &why);
            let value = serde_json::from_str(text).map_err(json)?;
            let order: Order = serde_json::from_str(text).map_err(json)?;
            yaml::Document { value, paths: order.paths.0 }
        } else {
            yaml::parse(source)?
        };
        let is_swagger = check_version(source, &root)?;
        if root.get("paths").and_then(Value::as_object).is_none_or(Map::is_empty) {
            return Err(source
                .missing("there are no paths")
                .mend("give a description with operations below \"paths\""));
        }
        let document = Self { source, root, paths, is_swagger };
        document.check_references()?;
        Ok(document)
    }

    /// What a value stands for: itself, or what its `$ref` names.
    pub(super) fn resolve<'v>(&'v self, value: &'v Value) -> Result<&'v Value, Error> {
        let mut value = value;
        for _ in 0..LONGEST_CHAIN {
            let Some(reference) = value.get("$ref").and_then(Value::as_str) else { return Ok(value) };
            let pointer = reference.trim_start_matches('#');
            let pointer = percent_decode_str(pointer).decode_utf8_lossy();
            value = self.root.pointer(&pointer).ok_or_else(|| {
                let what = format!("\"{reference}\" names nothing in the file");
                place::of_text(self.source, reference, what)
                    .mend("correct the reference, or add what it names")
            })?;
        }
        Err(self.source.missing("a $ref leads back to itself"))
    }

    /// What stands in a value below a key, resolved; `None` where nothing does.
    pub(super) fn get<'v>(&'v self, value: &'v Value, key: &str) -> Result<Option<&'v Value>, Error> {
        value.get(key).map(|value| self.resolve(value)).transpose()
    }

    /// What stands before each path.
    pub(super) fn base(&self) -> String {
        let base = if self.is_swagger {
            self.root.get("basePath").and_then(Value::as_str).unwrap_or_default().to_owned()
        } else {
            self.root.pointer("/servers/0").map(server_path).unwrap_or_default()
        };
        let base = base.trim_matches('/');
        if base.is_empty() { String::new() } else { format!("/{base}") }
    }

    fn check_references(&self) -> Result<(), Error> {
        let mut elsewhere = Vec::new();
        references(&self.root, &mut |reference| {
            if !reference.starts_with('#') && !elsewhere.iter().any(|other| other == reference) {
                elsewhere.push(reference.to_owned());
            }
        });
        let Some(first) = elsewhere.first() else { return Ok(()) };
        let more =
            if elsewhere.len() > 5 { format!(" and {} more", elsewhere.len() - 5) } else { String::new() };
        let names = elsewhere[..elsewhere.len().min(5)].join(", ");
        let error = place::of_text(self.source, first, format!("it refers to other files: {names}{more}"));
        Err(error.mend("put them into one file first, such as with `redocly bundle`"))
    }
}

/// Calls `on` with each `$ref`.
fn references<'v>(value: &'v Value, on: &mut impl FnMut(&'v str)) {
    match value {
        Value::Object(map) => {
            if let Some(Value::String(reference)) = map.get("$ref") {
                on(reference);
            }
            map.values().for_each(|value| references(value, on));
        }
        Value::Array(items) => items.iter().for_each(|value| references(value, on)),
        _ => {}
    }
}

/// The path of a server's URL, its variables at their defaults.
fn server_path(server: &Value) -> String {
    let mut url = server.get("url").and_then(Value::as_str).unwrap_or_default().to_owned();
    for (name, variable) in server.get("variables").and_then(Value::as_object).into_iter().flatten() {
        let default = variable.get("default").and_then(Value::as_str).unwrap_or_default();
        url = url.replace(&format!("{{{name}}}"), default);
    }
    let behind =
        url.split_once("://").map_or(url.as_str(), |(_, rest)| rest.find('/').map_or("", |at| &rest[at..]));
    behind.split(['?', '#']).next().unwrap_or_default().to_owned()
}

/// Whether it is Swagger 2.0.
fn check_version(source: &Source, root: &Value) -> Result<bool, Error> {
    let version = |key: &str| {
        root.get(key).map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    };
    let wrong = |key: &str, version: &str| {
        let error = place::of_text(source, key, format!("{key} {version} is not known"));
        Err(error.mend("OpenAPI 3.0, 3.1 and Swagger 2.0 are read"))
    };
    match (version("openapi"), version("swagger")) {
        (Some(version), _) if version.starts_with("3.") => Ok(false),
        (Some(version), _) => wrong("openapi", &version),
        (None, Some(version)) if version.starts_with('2') => Ok(true),
        (None, Some(version)) => wrong("swagger", &version),
        (None, None) => Err(source
            .missing("it is not an OpenAPI description: there is neither \"openapi\" nor \"swagger\"")
            .mend("give the file that begins with openapi: 3")),
    }
}

#[derive(Deserialize)]
struct Order {
    #[serde(default)]
    paths: Keys,
}

/// The keys of an object, in the order of the file.
#[derive(Default)]
struct Keys(Vec<String>);

impl<'de> Deserialize<'de> for Keys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Keys;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("paths with their operations")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Keys, A::Error> {
                let mut keys = Vec::new();
                while let Some((key, IgnoredAny)) = map.next_entry()? {
                    keys.push(key);
                }
                Ok(Keys(keys))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}
