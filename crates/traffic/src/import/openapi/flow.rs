//! [`Flow`]: what is asked for in which order, and what of a response is used later.

use std::collections::BTreeMap;

use config::Error;
use serde_json::Value;

use super::operation::Operation;
use super::sample::{Samples, Unmade};

/// Members that hold what was made, where it is not the whole response.
const WRAPPERS: [&str; 4] = ["data", "result", "item", "attributes"];

/// An operation that makes something, which other paths name.
pub(super) struct Maker {
    /// Which operation.
    pub(super) operation: usize,
    /// The paths that name what it makes begin so: `/things/{id}`.
    pub(super) prefix: String,
    /// What the name is called in the workload.
    pub(super) name: String,
    /// Where it is in the response, as JSON Pointer.
    pub(super) pointer: String,
}

/// Operations, and those that make what others name.
pub(super) struct Flow<'d> {
    pub(super) operations: Vec<Operation<'d>>,
    pub(super) makers: Vec<Maker>,
}

impl<'d> Flow<'d> {
    pub(super) fn of(samples: &Samples<'_>, operations: Vec<Operation<'d>>) -> Result<Self, Error> {
        let mut makers: Vec<Maker> = Vec::new();
        for (number, operation) in operations.iter().enumerate() {
            if operation.method != "POST" {
                continue;
            }
            let start = format!("{}/{{", operation.path.trim_end_matches('/'));
            let item = operations.iter().find_map(|other| other.path.strip_prefix(&start)?.split_once('}'));
            let Some((parameter, _)) = item else { continue };
            let Some(pointer) = identifier(samples, operation, parameter)? else { continue };
            let prefix = format!("{start}{parameter}}}");
            let name = name(operation.path, parameter, &makers);
            makers.push(Maker { operation: number, prefix, name, pointer });
        }
        Ok(Self { operations, makers })
    }

    /// The makers of what the path of an operation names, by the name in its path.
    pub(super) fn made(&self, operation: &Operation<'d>) -> BTreeMap<&'d str, &Maker> {
        let made = operation.names().filter_map(|name| {
            let end = operation.path.find(&format!("{{{name}}}"))? + name.len() + 2;
            let prefix = &operation.path[..end];
            self.makers.iter().find(|maker| maker.prefix == prefix).map(|maker| (name, maker))
        });
        made.collect()
    }

    /// Whether all that an operation names was made by the session.
    pub(super) fn is_own(&self, operation: &Operation<'d>) -> bool {
        let made = self.made(operation);
        !made.is_empty() && operation.names().all(|name| made.contains_key(name))
    }

    /// The numbers of the operations in the order in which they are asked for: what makes something before what names
    /// it, what deletes it last and from the inside out.
    pub(super) fn order(&self) -> Vec<usize> {
        let mut order = Vec::with_capacity(self.operations.len());
        let mut is_placed = vec![false; self.operations.len()];
        let (mut last, others): (Vec<usize>, Vec<usize>) = (0..self.operations.len()).partition(|number| {
            let operation = &self.operations[*number];
            operation.method == "DELETE" && self.is_own(operation)
        });
        others.into_iter().for_each(|number| self.place(number, &mut is_placed, &mut order));
        last.sort_by_key(|number| std::cmp::Reverse(self.operations[*number].path.matches('/').count()));
        last.into_iter().for_each(|number| self.place(number, &mut is_placed, &mut order));
        order
    }

    fn place(&self, number: usize, is_placed: &mut [bool], order: &mut Vec<usize>) {
        if std::mem::replace(&mut is_placed[number], true) {
            return;
        }
        for maker in self.made(&self.operations[number]).into_values() {
            self.place(maker.operation, is_placed, order);
        }
        order.push(number);
    }
}

/// Where a response says what the thing that was made is called, as JSON Pointer.
fn identifier(
    samples: &Samples<'_>,
    operation: &Operation<'_>,
    parameter: &str,
) -> Result<Option<String>, Error> {
    for (_, response) in operation.successes() {
        let response = samples.document.resolve(response)?;
        let content = response.get("content").and_then(Value::as_object).into_iter().flatten();
        let json =
            content.filter(|(mime, _)| mime.contains("json") || mime.contains('*')).map(|(_, media)| media);
        let schema = json.filter_map(|media| media.get("schema")).next().or_else(|| response.get("schema"));
        let Some(schema) = schema else { continue };
        let whole = |schema: &Value| match samples.whole(schema, 0) {
            Ok(whole) => Ok(whole),
            Err(Unmade::Unknown(_)) => Ok(Value::Null),
            Err(Unmade::Wrong(error)) => Err(error),
        };
        let schema = whole(schema)?;
        let Some(properties) = schema.get("properties") else { continue };
        if let Some(name) = named(properties, parameter) {
            return Ok(Some(format!("/{name}")));
        }
        for wrapper in WRAPPERS {
            let Some(inner) = properties.get(wrapper) else { continue };
            let inner = whole(inner)?;
            if let Some(name) = inner.get("properties").and_then(|properties| named(properties, parameter)) {
                return Ok(Some(format!("/{wrapper}/{name}")));
            }
        }
    }
    Ok(None)
}

fn named(properties: &Value, parameter: &str) -> Option<String> {
    let names = [parameter, "id", "_id", "uuid"];
    let found = names.iter().find(|name| properties.get(**name).is_some())?;
    Some(found.replace('~', "~0").replace('/', "~1"))
}

/// `petId`, or `things_id` for `{id}` below `/things`.
fn name(path: &str, parameter: &str, makers: &[Maker]) -> String {
    let may = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let above = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let plain = if parameter.len() > 4 { parameter.to_owned() } else { format!("{above}_{parameter}") };
    let plain: String = plain.chars().map(may).collect();
    let is_free = |name: &String| {
        !makers.iter().any(|maker| maker.name == *name) && name != "session" && name != "random"
    };
    let numbered = (2..).map(|number: u64| format!("{plain}_{number}"));
    std::iter::once(plain.clone()).chain(numbered).find(is_free).unwrap_or_default()
}
