//! [`Samples`]: values that fit a schema, as JSON or as plain texts.

use config::Error;
use serde_json::{Map, Value};

use super::super::text::Text;
use super::document::Document;
use super::scalar::{Scalar, scalar};

/// Schemas that contain themselves are followed so far.
const DEEPEST: usize = 8;
/// Properties that need not be there are filled so far.
const DEEPEST_OPTIONAL: usize = 3;
const MOST_ITEMS: u64 = 20;

/// Why there is no value.
pub(super) enum Unmade {
    /// The description is wrong.
    Wrong(Error),
    /// Nothing says which value would fit.
    Unknown(String),
}

impl From<Error> for Unmade {
    fn from(error: Error) -> Self {
        Self::Wrong(error)
    }
}

/// Makes values.
pub(super) struct Samples<'d> {
    pub(super) document: &'d Document<'d>,
}

impl Samples<'_> {
    /// The value that an object (a parameter, a body of one type, a schema) gives as an example.
    pub(super) fn example(&self, of: &Value) -> Result<Option<Value>, Error> {
        if let Some(example) = of.get("example") {
            return Ok(Some(example.clone()));
        }
        match of.get("examples") {
            Some(Value::Array(examples)) => Ok(examples.first().cloned()),
            Some(Value::Object(examples)) => {
                let Some(first) = examples.values().next() else { return Ok(None) };
                Ok(self.document.resolve(first)?.get("value").cloned())
            }
            _ => Ok(None),
        }
    }

    /// What a schema says of a value: an example, a default, the only or the first that there may be.
    fn stated(&self, schema: &Value) -> Result<Option<Value>, Error> {
        let stated =
            self.example(schema)?.or_else(|| schema.get("default").or_else(|| schema.get("const")).cloned());
        let first =
            || schema.get("enum").and_then(Value::as_array).and_then(|values| values.first().cloned());
        Ok(stated.or_else(first).filter(|value| !value.is_null()))
    }

    /// A value that fits a schema, as JSON.
    pub(super) fn json(&self, schema: &Value) -> Result<Text, Unmade> {
        self.at(schema, 0)
    }

    fn at(&self, schema: &Value, depth: usize) -> Result<Text, Unmade> {
        let schema = &self.whole(schema, 0)?;
        if let Some(value) = self.stated(schema)? {
            return Ok(Text::literal(value.to_string()));
        }
        if depth > DEEPEST {
            return Err(Unmade::Unknown("its schema contains itself".to_owned()));
        }
        match kind(schema).as_str() {
            "object" => self.object(schema, depth),
            "array" => self.array(schema, depth),
            "null" => Ok(Text::literal("null")),
            kind => match scalar(kind, schema, false).map_err(Unmade::Unknown)? {
                Scalar::Bare(text) => Ok(text),
                Scalar::Quoted(text) => {
                    let mut quoted = Text::literal("\"");
                    quoted.append(text.map(escaped));
                    quoted.push("\"");
                    Ok(quoted)
                }
            },
        }
    }

    fn object(&self, schema: &Value, depth: usize) -> Result<Text, Unmade> {
        let mut json = Text::literal("{");
        for (number, (name, value)) in self.members(schema, depth)?.into_iter().enumerate() {
            json.push(if number > 0 { "," } else { "" });
            json.push(&format!("{}:", Value::String(name)));
            json.append(value);
        }
        json.push("}");
        Ok(json)
    }

    /// The members of an object: those that must be there and those with an example; all where none must.
    fn members(&self, schema: &Value, depth: usize) -> Result<Vec<(String, Text)>, Unmade> {
        let required: Vec<&str> = schema
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let mut members = Vec::new();
        for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let whole = self.whole(property, 0)?;
            let is_required = required.contains(&name.as_str());
            let is_for_responses = whole.get("readOnly") == Some(&Value::Bool(true));
            let is_wanted = required.is_empty() && depth < DEEPEST_OPTIONAL || self.stated(&whole)?.is_some();
            if is_for_responses || !is_required && !is_wanted {
                continue;
            }
            match self.at(property, depth + 1) {
                Ok(value) => members.push((name.clone(), value)),
                Err(Unmade::Unknown(why)) if is_required => {
                    return Err(Unmade::Unknown(format!("{name}: {why}")));
                }
                Err(Unmade::Unknown(_)) => {}
                Err(wrong) => return Err(wrong),
            }
        }
        Ok(members)
    }

    fn array(&self, schema: &Value, depth: usize) -> Result<Text, Unmade> {
        let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0);
        if least > MOST_ITEMS {
            return Err(Unmade::Unknown(format!("nothing is made of {least} items")));
        }
        let none = Value::Object(Map::new());
        let item = match self.at(schema.get("items").unwrap_or(&none), depth + 1) {
            Ok(item) => item,
            Err(Unmade::Unknown(_)) if least == 0 => return Ok(Text::literal("[]")),
            Err(why) => return Err(why),
        };
        let mut json = Text::literal("[");
        for number in 0..least.max(1) {
            json.push(if number > 0 { "," } else { "" });
            json.append(item.clone());
        }
        json.push("]");
        Ok(json)
    }

    /// A value as a parameter has it: a list by its items. `is_path`: it names something.
    pub(super) fn plain(&self, schema: &Value, is_path: bool) -> Result<Vec<Text>, Unmade> {
        let schema = &self.whole(schema, 0)?;
        if let Some(value) = self.stated(schema)? {
            return Ok(plain_of(&value));
        }
        match kind(schema).as_str() {
            "array" => self.plain(schema.get("items").unwrap_or(&Value::Null), is_path),
            "object" => Err(Unmade::Unknown("nothing is made of an object".to_owned())),
            kind => match scalar(kind, schema, is_path).map_err(Unmade::Unknown)? {
                Scalar::Bare(text) | Scalar::Quoted(text) => Ok(vec![text]),
            },
        }
    }

    /// The members of a form: name and value.
    pub(super) fn form(&self, schema: &Value) -> Result<Vec<(String, Text)>, Unmade> {
        let schema = &self.whole(schema, 0)?;
        if let Some(Value::Object(members)) = self.stated(schema)? {
            let pairs = members
                .iter()
                .flat_map(|(name, value)| plain_of(value).into_iter().map(|text| (name.clone(), text)));
            return Ok(pairs.collect());
        }
        let mut pairs = Vec::new();
        for (name, _) in self.members(schema, 0)? {
            let property =
                schema.pointer(&format!("/properties/{}", name.replace('~', "~0").replace('/', "~1")));
            for text in self.plain(property.unwrap_or(&Value::Null), false)? {
                pairs.push((name.clone(), text));
            }
        }
        Ok(pairs)
    }

    /// A schema with its references, `allOf`, and the first of `oneOf` and `anyOf` put together.
    pub(super) fn whole(&self, schema: &Value, depth: usize) -> Result<Value, Unmade> {
        let schema = self.document.resolve(schema)?;
        if depth > DEEPEST {
            return Err(Unmade::Unknown("its schema contains itself".to_owned()));
        }
        let Value::Object(own) = schema else { return Ok(Value::Object(Map::new())) };
        let mut whole = own.clone();
        let mut parts: Vec<&Value> =
            own.get("allOf").and_then(Value::as_array).into_iter().flatten().collect();
        for key in ["oneOf", "anyOf"] {
            let choices = own.get(key).and_then(Value::as_array).into_iter().flatten();
            let is_null = |choice: &&&Value| choice.get("type") == Some(&Value::String("null".to_owned()));
            let choices: Vec<&Value> = choices.collect();
            parts.extend(choices.iter().find(|choice| !is_null(choice)));
        }
        for part in parts {
            let Value::Object(part) = self.whole(part, depth + 1)? else { continue };
            for (key, value) in part {
                match (whole.get_mut(&key), value) {
                    (Some(Value::Object(mine)), Value::Object(theirs)) if key == "properties" => {
                        for (name, value) in theirs {
                            mine.entry(name).or_insert(value);
                        }
                    }
                    (Some(Value::Array(mine)), Value::Array(theirs)) if key == "required" => {
                        mine.extend(theirs)
                    }
                    (None, value) => drop(whole.insert(key, value)),
                    _ => {}
                }
            }
        }
        Ok(Value::Object(whole))
    }
}

fn plain_of(value: &Value) -> Vec<Text> {
    match value {
        Value::Array(items) => items.iter().flat_map(plain_of).collect(),
        Value::String(text) => vec![Text::literal(text.as_str())],
        other => vec![Text::literal(other.to_string())],
    }
}

/// The type that a schema has, or that its other words tell.
fn kind(schema: &Value) -> String {
    let stated = match schema.get("type") {
        Some(Value::String(kind)) => Some(kind.as_str()),
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null"),
        _ => None,
    };
    let has = |keys: &[&str]| keys.iter().any(|key| schema.get(key).is_some());
    let told = || match () {
        () if has(&["properties", "additionalProperties"]) => "object",
        () if has(&["items"]) => "array",
        () if has(&["minimum", "maximum"]) => "number",
        () => "string",
    };
    stated.unwrap_or_else(told).to_owned()
}

/// As it stands between quotes in JSON.
fn escaped(text: &str) -> String {
    let quoted = Value::String(text.to_owned()).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}
