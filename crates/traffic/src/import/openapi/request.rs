//! [`filled`]: an operation with its parameters and its body filled.

use std::collections::BTreeMap;

use config::Error;
use serde_json::Value;

use super::super::text::Text;
use super::operation::Operation;
use super::sample::{Samples, Unmade};
use crate::url;
use crate::workload::{is_token, is_value};

/// What is sent for an operation.
#[derive(Default)]
pub(super) struct Filled {
    /// Path and query.
    pub(super) url: Text,
    pub(super) headers: Vec<(String, Text)>,
    pub(super) body: Option<Text>,
    /// The type of a body that need not be sent, and is not, because nothing can be made of it.
    pub(super) without: Option<String>,
}

/// Fills what an operation needs. `base` stands before its path; `made` says by which names parts of the path are known
/// that earlier responses had.
pub(super) fn filled(
    samples: &Samples<'_>,
    operation: &Operation<'_>,
    base: &str,
    made: &BTreeMap<&str, String>,
) -> Result<Filled, Unmade> {
    let mut filled = Filled { url: path(samples, operation, base, made)?, ..Filled::default() };
    let mut query: Vec<(String, Text)> = Vec::new();
    let mut form: Vec<(String, Text)> = Vec::new();
    for parameter in &operation.parameters {
        let (name, place) = (text(parameter, "name"), text(parameter, "in"));
        if place == "path" || !is_sent(samples, parameter)? {
            continue;
        }
        match place {
            "query" => {
                query.extend(values(samples, parameter)?.into_iter().map(|value| (name.to_owned(), value)))
            }
            "formData" => {
                form.extend(values(samples, parameter)?.into_iter().map(|value| (name.to_owned(), value)))
            }
            "header" => {
                let ignored = ["accept", "content-type", "authorization"];
                if !ignored.contains(&name.to_ascii_lowercase().as_str()) {
                    let value = joined(values(samples, parameter)?);
                    filled.headers.push((field_name(name)?, field_value(value, name)?));
                }
            }
            "body" => {
                let schema = parameter.get("schema").unwrap_or(&Value::Null);
                put(&mut filled, "application/json", samples.json(schema)?)?;
            }
            "cookie" => return Err(Unmade::Unknown(format!("it needs the cookie {name}"))),
            _ => {}
        }
    }
    if !form.is_empty() {
        put(&mut filled, "application/x-www-form-urlencoded", pairs(form))?;
    }
    if !query.is_empty() {
        filled.url.push("?");
        filled.url.append(pairs(query));
    }
    if let Some(body) = samples.document.get(operation.own, "requestBody")? {
        self::body(samples, body, &mut filled)?;
    }
    Ok(filled)
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Whether a parameter is required, or has an example.
fn is_sent(samples: &Samples<'_>, parameter: &Value) -> Result<bool, Error> {
    if parameter.get("required") == Some(&Value::Bool(true)) || samples.example(parameter)?.is_some() {
        return Ok(true);
    }
    match samples.document.get(parameter, "schema")? {
        Some(schema) => Ok(samples.example(schema)?.is_some()),
        None => Ok(false),
    }
}

/// The values of a parameter; several where it is a list.
fn values(samples: &Samples<'_>, parameter: &Value) -> Result<Vec<Text>, Unmade> {
    let is_path = text(parameter, "in") == "path";
    let name = text(parameter, "name");
    let named = |unmade| match unmade {
        Unmade::Unknown(why) => Unmade::Unknown(format!("{name}: {why}")),
        wrong => wrong,
    };
    if let Some(example) = samples.example(parameter)? {
        return samples.plain(&serde_json::json!({ "example": example }), is_path).map_err(named);
    }
    let content =
        parameter.get("content").and_then(Value::as_object).and_then(|content| content.values().next());
    if let Some(content) = content {
        return Ok(vec![media(samples, content).map_err(named)?]);
    }
    let schema = if samples.document.is_swagger { Some(parameter) } else { parameter.get("schema") };
    samples.plain(schema.unwrap_or(&Value::Null), is_path).map_err(named)
}

fn path(
    samples: &Samples<'_>,
    operation: &Operation<'_>,
    base: &str,
    made: &BTreeMap<&str, String>,
) -> Result<Text, Unmade> {
    let mut url = Text::literal(base);
    let mut rest = operation.path;
    while let Some((before, after)) = rest.split_once('{') {
        let Some((name, after)) = after.split_once('}') else { break };
        url.push(before);
        let is_it = |parameter: &&&Value| text(parameter, "in") == "path" && text(parameter, "name") == name;
        if let Some(known) = made.get(name) {
            url.append(Text::name(known.as_str()));
        } else if let Some(parameter) = operation.parameters.iter().find(is_it) {
            let value = joined(values(samples, parameter)?);
            if value == Text::default() {
                return Err(Unmade::Unknown(format!("{name}: it is empty")));
            }
            url.append(value.map(|text| url::value(text).to_string()));
        } else {
            return Err(Unmade::Unknown(format!("{name} in its path is not described")));
        }
        rest = after;
    }
    url.push(rest);
    if url.literals().flat_map(str::bytes).all(|byte| byte.is_ascii_graphic() && byte != b'#') {
        return Ok(url);
    }
    Err(Unmade::Unknown("its path has characters that cannot stand in a URL".to_owned()))
}

/// The items of a list, with commas between (RFC 6570, section 3.2.2).
fn joined(values: Vec<Text>) -> Text {
    values.into_iter().enumerate().fold(Text::default(), |mut all, (number, value)| {
        all.push(if number > 0 { "," } else { "" });
        all.append(value);
        all
    })
}

fn pairs(pairs: Vec<(String, Text)>) -> Text {
    pairs.into_iter().enumerate().fold(Text::default(), |mut all, (number, (name, value))| {
        all.push(if number > 0 { "&" } else { "" });
        all.push(&format!("{}=", url::value(&name)));
        all.append(value.map(|text| url::value(text).to_string()));
        all
    })
}

fn put(filled: &mut Filled, mime: &str, body: Text) -> Result<(), Unmade> {
    if body.written().starts_with('@') {
        return Err(Unmade::Unknown("its body begins with @, which names a file in a workload".to_owned()));
    }
    filled.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("content-type"));
    filled
        .headers
        .push(("Content-Type".to_owned(), field_value(Text::literal(mime), "the type of its body")?));
    filled.body = Some(body);
    Ok(())
}

/// The first type of body that can be made.
fn body(samples: &Samples<'_>, body: &Value, filled: &mut Filled) -> Result<(), Unmade> {
    let content = body.get("content").and_then(Value::as_object);
    let types: Vec<(&String, &Value)> = content.into_iter().flatten().collect();
    let essence = |mime: &str| mime.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_json = |mime: &str| {
        essence(mime) == "application/json" || essence(mime).ends_with("+json") || essence(mime) == "*/*"
    };
    let is_form = |mime: &str| essence(mime) == "application/x-www-form-urlencoded";
    if let Some((mime, content)) = types.iter().find(|(mime, _)| is_json(mime)) {
        let mime = if mime.contains('*') { "application/json" } else { mime.as_str() };
        put(filled, mime, media(samples, content)?)?;
    } else if let Some((mime, content)) = types.iter().find(|(mime, _)| is_form(mime)) {
        let example = samples.example(content)?.map(|example| serde_json::json!({ "example": example }));
        let schema = example.as_ref().or_else(|| content.get("schema"));
        put(filled, mime, pairs(samples.form(schema.unwrap_or(&Value::Null))?))?;
    } else if let Some((mime, content)) = types.iter().find(|(mime, _)| essence(mime) == "text/plain") {
        let schema = content.get("schema").unwrap_or(&Value::Null);
        let text = match samples.example(content)? {
            Some(Value::String(text)) => Text::literal(text),
            _ => joined(samples.plain(schema, false)?),
        };
        put(filled, mime, text)?;
    } else if let Some((mime, _)) = types.first() {
        if body.get("required") == Some(&Value::Bool(true)) {
            return Err(Unmade::Unknown(format!("nothing is made of the type {mime}")));
        }
        filled.without = Some(mime.to_string());
    }
    Ok(())
}

/// The JSON of a body or parameter of one type: its example, or what fits its schema.
fn media(samples: &Samples<'_>, content: &Value) -> Result<Text, Unmade> {
    match samples.example(content)? {
        Some(example) => Ok(Text::literal(example.to_string())),
        None => samples.json(content.get("schema").unwrap_or(&Value::Null)),
    }
}

/// The name of a header field that a workload can have.
fn field_name(name: &str) -> Result<String, Unmade> {
    let framing = ["content-length", "transfer-encoding", "connection"];
    if !is_token(name) || framing.contains(&name.to_ascii_lowercase().as_str()) {
        return Err(Unmade::Unknown(format!("the header field \"{name}\" cannot be sent")));
    }
    Ok(name.to_owned())
}

fn field_value(value: Text, name: &str) -> Result<Text, Unmade> {
    if value.literals().all(is_value) {
        return Ok(value);
    }
    Err(Unmade::Unknown(format!("{name}: its value cannot stand in a header field")))
}
