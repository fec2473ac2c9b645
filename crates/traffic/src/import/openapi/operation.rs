//! [`Operation`]: what can be asked for at a path, by a method.

use config::Error;
use serde_json::Value;

use super::document::Document;

/// In the order in which the operations of a path are asked for.
const METHODS: [&str; 6] = ["post", "get", "head", "put", "patch", "delete"];

/// An operation.
pub(super) struct Operation<'d> {
    pub(super) method: String,
    /// As described, with `{NAME}` in it.
    pub(super) path: &'d str,
    pub(super) own: &'d Value,
    /// Its parameters and those of its path.
    pub(super) parameters: Vec<&'d Value>,
}

impl<'d> Operation<'d> {
    /// All operations, in the order of the file; those of a path in the order of [`METHODS`].
    pub(super) fn all(document: &'d Document<'d>) -> Result<Vec<Self>, Error> {
        let mut all = Vec::new();
        let paths = document.root.get("paths").unwrap_or(&Value::Null);
        for path in &document.paths {
            if !path.starts_with('/') {
                continue;
            }
            let Some(item) = document.get(paths, path)? else { continue };
            for method in METHODS {
                if let Some(own) = document.get(item, method)? {
                    let parameters = parameters(document, own, item)?;
                    all.push(Self { method: method.to_ascii_uppercase(), path, own, parameters });
                }
            }
        }
        Ok(all)
    }

    /// What it is called in comments and notes.
    pub(super) fn shown(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    /// Its identifier or summary, behind method and path.
    pub(super) fn comment(&self) -> String {
        let text = |key: &str| {
            self.own.get(key).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty())
        };
        let about =
            [text("operationId"), text("summary")].into_iter().flatten().collect::<Vec<_>>().join(": ");
        if about.is_empty() { self.shown() } else { format!("{} ({about})", self.shown()) }
    }

    /// Whether it has one of these tags.
    pub(super) fn has_tag(&self, tags: &[String]) -> bool {
        let own =
            self.own.get("tags").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        own.into_iter().any(|tag| tags.iter().any(|other| other == tag))
    }

    /// Whether it changes or deletes something.
    pub(super) fn is_destructive(&self) -> bool {
        matches!(self.method.as_str(), "PUT" | "PATCH" | "DELETE")
    }

    /// The names in its path, from left to right.
    pub(super) fn names(&self) -> impl Iterator<Item = &'d str> {
        self.path.split('{').skip(1).filter_map(|rest| rest.split_once('}')).map(|(name, _)| name)
    }

    /// Its responses whose statuses are 2xx: status and description.
    pub(super) fn successes(&self) -> impl Iterator<Item = (&'d str, &'d Value)> {
        let responses = self.own.get("responses").and_then(Value::as_object).into_iter().flatten();
        responses
            .map(|(status, response)| (status.as_str(), response))
            .filter(|(status, _)| status.starts_with('2'))
    }

    /// The statuses that are right.
    pub(super) fn expected(&self) -> String {
        let statuses: Vec<String> = self
            .successes()
            .map(|(status, _)| status.to_ascii_lowercase())
            .filter(|status| {
                status == "2xx" || status.len() == 3 && status.bytes().all(|byte| byte.is_ascii_digit())
            })
            .collect();
        if statuses.is_empty() { "2xx".to_owned() } else { statuses.join(",") }
    }
}

/// The parameters of an operation, and those of its path that it does not replace.
fn parameters<'d>(
    document: &'d Document<'d>,
    own: &'d Value,
    item: &'d Value,
) -> Result<Vec<&'d Value>, Error> {
    let mut all: Vec<&Value> = Vec::new();
    for of in [own, item] {
        for parameter in of.get("parameters").and_then(Value::as_array).into_iter().flatten() {
            let parameter = document.resolve(parameter)?;
            let same = |other: &&Value| ["name", "in"].iter().all(|key| other.get(key) == parameter.get(key));
            if !all.iter().any(same) {
                all.push(parameter);
            }
        }
    }
    Ok(all)
}
