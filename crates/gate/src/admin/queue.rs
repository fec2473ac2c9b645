//! `GET /api/v1/queue`: what waits, and where.

use schemars::JsonSchema;
use serde::Serialize;

use crate::admin::query::pairs;
use crate::admission::driver::Waiting;
use crate::process::gate::Gate;

/// Requests that wait, those first that have waited longest.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Queue {
    /// How many match, also those that are not shown.
    waiting: usize,
    requests: Vec<Request>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Request {
    id: String,
    /// Null until somebody has looked.
    class: Option<String>,
    /// The stage it waits in: acceptor, pending, discard or class; null while it changes.
    stage: Option<&'static str>,
    /// Seconds since it arrived.
    age: f64,
    /// The client's address.
    client: String,
    method: String,
    /// Without the query, and cut off where it is very long.
    path: String,
}

/// What is asked for.
#[derive(Debug, PartialEq, Eq)]
struct Wanted {
    limit: usize,
    offset: usize,
    class: Option<String>,
    stage: Option<String>,
    /// In its client's address, its path or its id.
    search: Option<String>,
}

/// Characters of a path that are shown: enough to recognise it.
const MAX_PATH_CHARACTERS: usize = 256;
const STAGES: [&str; 4] = ["acceptor", "pending", "discard", "class"];

/// The queue, as far as `query` asks for it.
pub(super) fn queue(gate: &Gate, query: &str) -> Result<Queue, String> {
    let wanted = Wanted::read(query, gate.classes())?;
    let now = gate.clock.read();
    let driver = gate.admission.driver.borrow();
    let class = |waiting: &Waiting<'_>| waiting.class.and_then(|class| gate.classes().get(class.index()));
    let mut all: Vec<Waiting<'_>> = driver
        .waiting_requests()
        .filter(|waiting| wanted.class.is_none() || class(waiting) == wanted.class.as_ref())
        .filter(|waiting| {
            wanted.stage.is_none() || waiting.stage.map(policy::Stage::name) == wanted.stage.as_deref()
        })
        .filter(|waiting| wanted.search.as_ref().is_none_or(|text| holds(waiting, text)))
        .collect();
    all.sort_by_key(|waiting| waiting.arrived);
    let request = |waiting: &Waiting<'_>| {
        let path = waiting.head.uri.path();
        Request {
            id: format!("{:x}", waiting.id.0),
            class: class(waiting).cloned(),
            stage: waiting.stage.map(policy::Stage::name),
            age: now.since(waiting.arrived).as_secs_f64(),
            client: waiting.address.to_canonical().to_string(),
            method: waiting.head.method.to_string(),
            path: path.chars().take(MAX_PATH_CHARACTERS).collect(),
        }
    };
    Ok(Queue {
        waiting: all.len(),
        requests: all.iter().skip(wanted.offset).take(wanted.limit).map(request).collect(),
    })
}

/// Whether a text is found in what is shown of a request.
fn holds(waiting: &Waiting<'_>, text: &str) -> bool {
    let is_in = |shown: &str| shown.contains(text);
    is_in(waiting.head.uri.path())
        || is_in(&waiting.address.to_canonical().to_string())
        || is_in(&format!("{:x}", waiting.id.0))
}

impl Wanted {
    fn read(query: &str, classes: &[String]) -> Result<Self, String> {
        const MAX_LIMIT: usize = 1000;
        let mut wanted = Self { limit: 100, offset: 0, class: None, stage: None, search: None };
        for (name, value) in pairs(query) {
            match name {
                "limit" => {
                    let limit = value.parse().ok().filter(|limit| (1..=MAX_LIMIT).contains(limit));
                    wanted.limit = limit
                        .ok_or_else(|| format!("limit is \"{value}\"; it goes from 1 to {MAX_LIMIT}"))?;
                }
                "offset" => {
                    wanted.offset = value
                        .parse()
                        .map_err(|_| format!("offset is \"{value}\"; it is a number from 0 on"))?;
                }
                "search" => wanted.search = Some(value).filter(|text| !text.is_empty()),
                "class" if classes.contains(&value) => wanted.class = Some(value),
                "class" => {
                    return Err(format!("there is no class \"{value}\"; there are {}", classes.join(", ")));
                }
                "stage" if STAGES.contains(&value.as_str()) => wanted.stage = Some(value),
                "stage" => {
                    return Err(format!("there is no stage \"{value}\"; there are {}", STAGES.join(", ")));
                }
                _ => {
                    return Err(format!(
                        "\"{name}\" is not known; there are limit, offset, class, stage and search"
                    ));
                }
            }
        }
        Ok(wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for() {
        let classes = ["premium".to_owned(), "basic".to_owned()];
        let read = |query| Wanted::read(query, &classes);
        assert_eq!(read(""), Ok(Wanted { limit: 100, offset: 0, class: None, stage: None, search: None }));
        let wanted = Wanted {
            limit: 5,
            offset: 10,
            class: Some("premium".to_owned()),
            stage: Some("class".to_owned()),
            search: Some("/a b".to_owned()),
        };
        assert_eq!(read("limit=5&offset=10&class=pr%65mium&stage=class&search=/a%20b"), Ok(wanted));
        for wrong in
            ["limit=0", "limit=1001", "limit=x", "limit", "offset=-1", "class=gold", "stage=server", "more=1"]
        {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
