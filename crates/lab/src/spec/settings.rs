//! `--set key=value`: changes one value of a spec, whatever it is.

use toml::{Table, Value};

use crate::error::Error;

/// Applies `a.b.c=value`. A value that is not TOML is a string, so that a word need not be quoted
/// for the shell and for TOML; elements of a list are named by number, from 0, or by their `name`.
pub(super) fn apply(table: &mut Table, setting: &str) -> Result<(), Error> {
    let wrong = |why: String| Error::Setting { setting: setting.to_owned(), why };
    let (path, value) = setting.split_once('=').unwrap_or_default();
    let keys: Vec<&str> = path.trim().split('.').collect();
    if keys.iter().any(|key| key.is_empty()) {
        return Err(wrong("write it as key=value, such as server.kind=apache".to_owned()));
    }
    set_in(table, &keys, parse(value)).map_err(wrong)
}

/// Sets what `key` names, such as `class.basic.target-queue`.
pub(super) fn set_key(table: &mut Table, key: &str, value: Value) -> Result<(), String> {
    set_in(table, &key.split('.').collect::<Vec<_>>(), value)
}

fn set_in(table: &mut Table, keys: &[&str], value: Value) -> Result<(), String> {
    let [key, rest @ ..] = keys else { return Ok(()) };
    if rest.is_empty() {
        table.insert((*key).to_owned(), value);
        return Ok(());
    }
    set(table.entry(*key).or_insert_with(|| Value::Table(Table::new())), key, rest, value)
}

/// Sets what `keys` name inside `place`, which is called `name`.
fn set(place: &mut Value, name: &str, keys: &[&str], value: Value) -> Result<(), String> {
    let [key, rest @ ..] = keys else {
        *place = value;
        return Ok(());
    };
    match place {
        Value::Table(table) => set_in(table, keys, value),
        Value::Array(list) => {
            let length = list.len();
            let named = |element: &Value| element.get("name").and_then(Value::as_str) == Some(*key);
            let index = key.parse().ok().or_else(|| list.iter().position(named));
            let element = index.and_then(|index: usize| list.get_mut(index)).ok_or_else(|| {
                format!("\"{name}\" is a list of {length}; name one by its number, such as {name}.0")
            })?;
            set(element, key, rest, value)
        }
        _ => Err(format!("\"{name}\" is a value and has no keys")),
    }
}

fn parse(text: &str) -> Value {
    let text = text.trim();
    toml::from_str::<Table>(&format!("value = {text}"))
        .ok()
        .and_then(|mut table| table.remove("value"))
        .unwrap_or_else(|| Value::String(text.to_owned()))
}
