//! [`parse`]: YAML 1.2 as JSON, with aliases and merge keys (`<<`) resolved.

use std::collections::BTreeMap;

use config::{Error, Source};
use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Number, Value};

use super::place;

/// Aliases can make a short file endless; a description has fewer values than this.
const MOST_VALUES: usize = 2_000_000;
/// As deep as JSON may be for `serde_json`.
const DEEPEST: usize = 128;

/// What a YAML file says.
pub(super) struct Document {
    pub(super) value: Value,
    /// The keys of the mapping `paths`, in the order of the file.
    pub(super) paths: Vec<String>,
}

/// The first document of a YAML file.
///
/// # Errors
/// What is wrong with it, with its line.
pub(super) fn parse(source: &Source) -> Result<Document, Error> {
    let mut composer = Composer::default();
    for event in Parser::new_from_str(place::text(source)) {
        let (event, span) =
            event.map_err(|why| place::of_line(source, why.marker().line(), why.info().to_owned()))?;
        match composer.take(event) {
            Ok(true) => break,
            Ok(false) => {}
            Err(what) => return Err(place::of_line(source, span.start.line(), what)),
        }
    }
    let value = composer.root.ok_or_else(|| source.missing("there is nothing in it"))?;
    Ok(Document { value, paths: composer.paths })
}

#[derive(Default)]
struct Composer {
    open: Vec<Open>,
    anchors: BTreeMap<usize, Value>,
    values: usize,
    root: Option<Value>,
    paths: Vec<String>,
}

/// What has begun and not ended, with the number of its anchor.
enum Open {
    Sequence(usize, Vec<Value>),
    Mapping(usize, Map<String, Value>, Option<String>),
}

impl Composer {
    /// Whether the document has ended.
    fn take(&mut self, event: Event<'_>) -> Result<bool, String> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                if self.take_key(&text) {
                    return Ok(false);
                }
                let is_text = style != ScalarStyle::Plain || tag.is_some_and(|tag| tag.suffix == "str");
                let value = if is_text { Value::String(text.into_owned()) } else { scalar(&text) };
                self.put(anchor, value)?;
            }
            Event::SequenceStart(anchor, _) => self.begin(Open::Sequence(anchor, Vec::new()))?,
            Event::MappingStart(anchor, _) => self.begin(Open::Mapping(anchor, Map::new(), None))?,
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(Open::Sequence(anchor, items)) => self.put(anchor, Value::Array(items))?,
                Some(Open::Mapping(anchor, map, _)) => self.put(anchor, Value::Object(map))?,
                None => {}
            },
            Event::Alias(anchor) => {
                let value = self.anchors.get(&anchor).cloned();
                let value = value.ok_or("an alias stands inside of what it is an alias of")?;
                self.values += size(&value);
                self.put(0, value)?;
            }
            Event::DocumentEnd => return Ok(true),
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentStart(_) => {}
        }
        Ok(false)
    }

    fn begin(&mut self, open: Open) -> Result<(), String> {
        if matches!(self.open.last(), Some(Open::Mapping(_, _, None))) {
            return Err("a key is a list or a mapping; keys are texts here".to_owned());
        }
        if self.open.len() >= DEEPEST {
            return Err(format!("it is more than {DEEPEST} levels deep"));
        }
        self.open.push(open);
        Ok(())
    }

    /// Whether the text is a key.
    fn take_key(&mut self, text: &str) -> bool {
        let is_paths = matches!(&self.open[..], [Open::Mapping(_, _, Some(key)), _] if key == "paths");
        match self.open.last_mut() {
            Some(Open::Mapping(_, _, key @ None)) => {
                *key = Some(text.to_owned());
                if is_paths {
                    self.paths.push(text.to_owned());
                }
                true
            }
            _ => false,
        }
    }

    fn put(&mut self, anchor: usize, value: Value) -> Result<(), String> {
        self.values += 1;
        if self.values > MOST_VALUES {
            return Err(format!("with what its aliases stand for it has more than {MOST_VALUES} values"));
        }
        if anchor > 0 {
            self.anchors.insert(anchor, value.clone());
        }
        match self.open.last_mut() {
            None => self.root = Some(value),
            Some(Open::Sequence(_, items)) => items.push(value),
            Some(Open::Mapping(_, map, key)) => match key.take() {
                Some(key) if key == "<<" => merge(map, value),
                Some(key) => drop(map.insert(key, value)),
                None => return Err("a key is a list or a mapping; keys are texts here".to_owned()),
            },
        }
        Ok(())
    }
}

/// What `<<` names is there unless the mapping says otherwise.
fn merge(map: &mut Map<String, Value>, value: Value) {
    match value {
        Value::Object(other) => {
            for (key, value) in other {
                map.entry(key).or_insert(value);
            }
        }
        Value::Array(others) => others.into_iter().for_each(|other| merge(map, other)),
        _ => {}
    }
}

fn size(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.iter().map(size).sum::<usize>() + 1,
        Value::Object(map) => map.values().map(size).sum::<usize>() + 1,
        _ => 1,
    }
}

/// What a plain text stands for: YAML 1.2, section 10.3 (core schema).
fn scalar(text: &str) -> Value {
    let radix = |digits: &str, radix| u64::from_str_radix(digits, radix).ok().map(Value::from);
    let number = || {
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
        let integer = text.parse::<i64>().ok().map(Value::from);
        let integer = integer.or_else(|| text.parse::<u64>().ok().map(Value::from));
        let decimal = || text.parse().ok().and_then(Number::from_f64).map(Value::Number);
        integer.or_else(decimal).filter(|_| is_number)
    };
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ => {
            let digits = |prefix| text.strip_prefix(prefix);
            let other = digits("0x").and_then(|hex| radix(hex, 16));
            let other = other.or_else(|| digits("0o").and_then(|octal| radix(octal, 8)));
            other.or_else(number).unwrap_or_else(|| Value::String(text.to_owned()))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(text: &str) -> Result<Document, String> {
        parse(&Source::new("a.yaml", text)).map_err(|error| error.to_string())
    }

    #[test]
    fn yaml_is_read_as_json() {
        let text = "a: [1, -2.5, 0x10, yes, 'no', ~, \"1\", 1e3, 2024-01-15, 1.2.3]\nb: &b {c: true, 200: x}\nd: {<<: *b, c: no}\ne: |\n  two\n  lines\n";
        let expected = json!({
            "a": [1, -2.5, 16, "yes", "no", null, "1", 1000.0, "2024-01-15", "1.2.3"],
            "b": {"c": true, "200": "x"}, "d": {"c": "no", "200": "x"}, "e": "two\nlines\n",
        });
        assert_eq!(read(text).unwrap().value, expected);
        assert_eq!(read("x: 1\npaths:\n  /b: {get: {}}\n  /a: {}\n").unwrap().paths, ["/b", "/a"]);
    }

    #[test]
    fn what_is_wrong_has_its_line() {
        assert!(read("a: 1\nb: [1\nc: }\n").err().unwrap().starts_with("a.yaml:"));
        assert!(read("").err().unwrap().contains("nothing in it"));
        let lines: String =
            (1..9).map(|i| format!("a{i}: &a{i} [{}]\n", format!("*a{},", i - 1).repeat(20))).collect();
        assert!(read(&format!("a0: &a0 x\n{lines}")).err().unwrap().contains("its aliases stand for"));
    }
}
