//! `GET /api/v1/queue`: what waits, and where.

use percent_encoding::percent_decode_str;
use schemars::JsonSchema;
use serde::Serialize;

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
    class: Option<String>,
    stage: Option<String>,
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
    Ok(Queue { waiting: all.len(), requests: all.iter().take(wanted.limit).map(request).collect() })
}

impl Wanted {
    fn read(query: &str, classes: &[String]) -> Result<Self, String> {
        const MAX_LIMIT: usize = 1000;
        let mut wanted = Self { limit: 100, class: None, stage: None };
        for (name, value) in query
            .split('&')
            .filter(|pair| !pair.is_empty())
            .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        {
            let value = percent_decode_str(value).decode_utf8_lossy().into_owned();
            match name {
                "limit" => {
                    let limit = value.parse().ok().filter(|limit| (1..=MAX_LIMIT).contains(limit));
                    wanted.limit = limit
                        .ok_or_else(|| format!("limit is \"{value}\"; it goes from 1 to {MAX_LIMIT}"))?;
                }
                "class" if classes.contains(&value) => wanted.class = Some(value),
                "class" => {
                    return Err(format!("there is no class \"{value}\"; there are {}", classes.join(", ")));
                }
                "stage" if STAGES.contains(&value.as_str()) => wanted.stage = Some(value),
                "stage" => {
                    return Err(format!("there is no stage \"{value}\"; there are {}", STAGES.join(", ")));
                }
                _ => return Err(format!("\"{name}\" is not known; there are limit, class and stage")),
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
        assert_eq!(read(""), Ok(Wanted { limit: 100, class: None, stage: None }));
        let wanted = Wanted { limit: 5, class: Some("premium".to_owned()), stage: Some("class".to_owned()) };
        assert_eq!(read("limit=5&class=pr%65mium&stage=class"), Ok(wanted));
        for wrong in ["limit=0", "limit=1001", "limit=x", "limit", "class=gold", "stage=server", "more=1"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
