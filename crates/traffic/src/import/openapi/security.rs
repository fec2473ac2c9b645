//! [`needs`]: which credentials an operation wants, and how a run is given them.

use config::Error;
use serde_json::Value;

use super::document::Document;
use super::operation::Operation;

/// What the credentials of an operation are called and how a run is given them, for the first of the ways that it accepts.
pub(super) fn needs(
    document: &Document<'_>,
    operation: &Operation<'_>,
) -> Result<Vec<(String, String)>, Error> {
    let ways = operation.own.get("security").or_else(|| document.root.get("security"));
    let ways: Vec<&Value> = ways.and_then(Value::as_array).into_iter().flatten().collect();
    let is_open = |way: &&&Value| way.as_object().is_none_or(|way| way.is_empty());
    if ways.iter().any(|way| is_open(&way)) {
        return Ok(Vec::new());
    }
    let Some(way) = ways.first().and_then(|way| way.as_object()) else { return Ok(Vec::new()) };
    let pointer = if document.is_swagger { "/securityDefinitions" } else { "/components/securitySchemes" };
    let mut needs = Vec::new();
    for name in way.keys() {
        let scheme = document.root.pointer(pointer).and_then(|schemes| schemes.get(name));
        let scheme = scheme.map(|scheme| document.resolve(scheme)).transpose()?;
        needs.push((name.clone(), advice(scheme.unwrap_or(&Value::Null))));
    }
    Ok(needs)
}

fn advice(scheme: &Value) -> String {
    let text = |key: &str| scheme.get(key).and_then(Value::as_str).unwrap_or_default();
    let name = text("name");
    match (text("type"), text("scheme").to_ascii_lowercase().as_str(), text("in")) {
        ("basic", ..) | (_, "basic", _) => "run it with --user NAME:PASSWORD".to_owned(),
        ("apiKey", _, "header") => format!("run it with --header '{name}: KEY'"),
        ("apiKey", _, "cookie") => format!("run it with --header 'Cookie: {name}=KEY'"),
        ("apiKey", _, "query") => format!("add {name}=KEY to the queries in the file"),
        ("oauth2" | "openIdConnect", ..) | (_, "bearer", _) => {
            "run it with --header 'Authorization: Bearer TOKEN'".to_owned()
        }
        ("mutualTLS", ..) => "run it with --cert FILE".to_owned(),
        _ => "give it what it needs with --header".to_owned(),
    }
}
