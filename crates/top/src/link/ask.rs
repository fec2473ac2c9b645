//! Single questions to a gate.

use http::Method;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::news::{Greeting, News, Order};
use crate::api::changes::Changes;
use crate::api::history::{History, Sample};
use crate::api::queue::{Queue, Wanted};
use crate::api::read;
use crate::api::state::{Knobs, Setting, State};
use crate::fault::Fault;
use crate::http::client::Client;

/// What charts show, and no more points than the widest terminal has.
const HISTORY: &str = "/api/v1/history?seconds=600&samples=600";
/// So much of it that its last samples are in it.
const LAST: &str = "/api/v1/history?seconds=10&samples=10";
const STATE: &str = "/api/v1/state";

/// The state as it was sent, and what is drawn of it.
pub(crate) async fn state(client: &Client) -> Result<(Value, State), Fault> {
    let body = client.get(STATE).await.map_err(|fault| match fault {
        fault if fault.is_unknown() => client.no_gate("it has no /api/v1/state"),
        fault => fault,
    })?;
    let raw = crate::api::parse(&body).map_err(|_| client.no_gate("its answer is not JSON"))?;
    let state = read(&body).map_err(|why| client.no_gate(&format!("its state cannot be read: {why}")))?;
    Ok((raw, state))
}

/// The last samples, as they were sent and as they are drawn; nothing of a gate that keeps none.
pub(crate) async fn last_samples(client: &Client) -> Result<(Value, History), Fault> {
    match client.get(LAST).await {
        Ok(body) => {
            let history =
                read(&body).map_err(|why| client.no_gate(&format!("its history cannot be read: {why}")))?;
            let raw = crate::api::parse(&body).unwrap_or_default();
            Ok((raw["samples"].as_array().and_then(|all| all.last()).cloned().unwrap_or_default(), history))
        }
        Err(fault) if fault.is_unknown() => Ok((Value::Null, History::default())),
        Err(fault) => Err(fault),
    }
}

/// All that is known at first.
pub(crate) async fn greet(client: &Client) -> Result<Greeting, Fault> {
    let (_, state) = state(client).await?;
    let history = optional(client, HISTORY).await?;
    let changes = optional(client, "/api/v1/changes").await?;
    Ok(Greeting { state, history, changes })
}

pub(crate) async fn changes(client: &Client) -> Result<Changes, Fault> {
    optional(client, "/api/v1/changes").await
}

/// Of an older gate that has no such thing, nothing.
async fn optional<T: DeserializeOwned + Default>(client: &Client, path: &str) -> Result<T, Fault> {
    match client.get(path).await {
        Ok(body) => read(&body).map_err(|why| client.no_gate(&format!("{path} cannot be read: {why}"))),
        Err(fault) if fault.is_unknown() => Ok(T::default()),
        Err(fault) => Err(fault),
    }
}

pub(crate) async fn queue(client: &Client, wanted: &Wanted) -> Result<Queue, String> {
    let body = client.get(&wanted.path()).await.map_err(|fault| fault.to_string())?;
    read(&body)
}

/// Does what the user wants, and says what came of it.
pub(crate) async fn carry_out(client: &Client, order: Order) -> News {
    match order {
        Order::Foresee(knobs) => {
            let body = if knobs.is_empty() { json!({}) } else { json!({ "knobs": knobs }) };
            let answer = client.foresee(&body).await;
            let told = answer.map_err(|fault| fault.to_string()).and_then(|body| read(&body));
            News::Foreseen { knobs, told }
        }
        Order::LookBack { since } => {
            let answer = client.outcome(since).await;
            let told = answer.map_err(|fault| fault.to_string()).and_then(|body| read(&body));
            News::Outcome { since, told }
        }
        Order::Move { expected, set } => {
            let mut body = json!(set);
            body["expected"] = json!(expected);
            match client.change(&Method::PATCH, "/api/v1/knobs", Some(&body)).await {
                Ok(_) => News::Moved { from: expected, to: set.on(expected) },
                Err(Fault::Refused { status: 409, .. }) => overtaken(client, expected, set).await,
                Err(fault) => News::NotMoved(not_done(&fault)),
            }
        }
        Order::Shadow(on) => {
            let mode = if on { "shadow" } else { "enforce" };
            let answer = client.change(&Method::PATCH, "/api/v1/mode", Some(&json!({ "mode": mode }))).await;
            done(answer, if on { "shadow mode: refusals are only counted" } else { "the gate enforces" })
        }
        Order::Drain(on) => {
            let method = if on { Method::POST } else { Method::DELETE };
            let answer = client.change(&method, "/api/v1/drain", None).await;
            done(answer, if on { "clients are sent elsewhere" } else { "clients are sent here again" })
        }
        Order::Queue(wanted) => {
            let wanted = wanted.unwrap_or_default();
            let told = queue(client, &wanted).await;
            News::Queue(wanted, told)
        }
    }
}

/// The knobs were others than expected.
async fn overtaken(client: &Client, expected: Knobs, set: Setting) -> News {
    let known = async { Ok::<_, Fault>((state(client).await?.1, changes(client).await?)) };
    match known.await {
        // It was sent twice, as the first answer was lost on its way.
        Ok((state, _)) if state.knobs.is_like(&set.on(expected)) => {
            News::Moved { from: expected, to: state.knobs }
        }
        Ok((state, changes)) => News::Overtaken { set, state: Box::new(state), changes },
        Err(fault) => News::NotMoved(format!("not moved: somebody else has moved the knobs; {fault}")),
    }
}

fn done(answer: Result<bytes::Bytes, Fault>, what: &str) -> News {
    News::Done(answer.map(|_| what.to_owned()).map_err(|fault| not_done(&fault)))
}

/// Why a change was not made, unless it was.
fn not_done(fault: &Fault) -> String {
    if fault.is_unclear() {
        format!("it is not known whether it was done: {fault}")
    } else {
        format!("not done: {fault}")
    }
}

/// The sample that an event carries; none where it cannot be read.
pub(crate) fn sample(data: &[u8]) -> Option<Sample> {
    read(data).ok()
}
