//! What a gate says, for tests.

use serde_json::json;

use crate::api::changes::Changes;
use crate::api::foresight::Foresight;
use crate::api::history::{History, Sample};
use crate::api::outcome::Outcome;
use crate::api::queue::Queue;
use crate::api::read;
use crate::api::state::{Knobs, State};
use crate::link::news::Greeting;

fn of<T: serde::de::DeserializeOwned>(value: &serde_json::Value) -> T {
    read(value.to_string().as_bytes()).unwrap()
}

pub(crate) fn names() -> Vec<String> {
    ["premium", "basic"].map(str::to_owned).to_vec()
}

pub(crate) fn state_value() -> serde_json::Value {
    json!({
        "mode": "enforce",
        "verdict": { "severity": "warning", "brief": "Refusing", "meaning": "refused 1", "words": "basic: 60 % of requests are refused; premium: all served, 95 % within 34 ms." },
        "knobs": { "differentiation": 0.9, "favour": 0.5 },
        "window": 16, "in_service": 12, "pressure": 0.12,
        "queues": { "acceptor": 1, "pending": 2, "discard": 3, "class": 4 },
        "upstream": { "servers": [
            { "address": "10.0.0.1:80", "name": "10.0.0.1:80", "standing": "up", "outstanding": 7, "requests": 1234, "failures": 2 },
            { "address": "10.0.0.2:80", "name": "shop:80", "standing": "up", "outstanding": 5, "requests": 1200, "failures": 0 },
        ] },
        "classes": [{ "name": "premium", "queued": 1, "patience": 0.0, "p95": 0.029 }, { "name": "basic", "queued": 3, "patience": 0.0, "p95": null }],
        "version": "0.1.0", "host": "shop-1", "clock": 1000.0, "started": 100.0, "draining": false, "capacity": 150.0,
        "operator": { "name": "127.0.0.1:41730 (ops)", "may_change": true }, "foresight": true,
    })
}

pub(crate) fn state() -> State {
    of(&state_value())
}

/// Of the class basic so much is refused per second, and it waits so long.
pub(crate) fn sample_value(at: f64, refused: f64, wait: f64) -> serde_json::Value {
    let waits = |class: f64| json!({ "acceptor": 0.0, "pending": 0.0, "discard": 0.0, "class": class, "server": 0.02 });
    json!({
        "at": at, "span": 1.0, "window": 16, "in_service": 12, "waiting": 10, "capacity": 152.5, "finished": 140.0,
        "unclassified": 0.0, "pressure": 0.12,
        "classes": [
            { "offered": 40.0, "served": 40.0, "refused": 0.0, "aborted": 0.0, "queued": 1, "response": 0.021, "p95": 0.034, "waits": waits(0.002) },
            { "offered": 100.0, "served": 100.0 - refused, "refused": refused, "aborted": 0.0, "queued": 3, "response": wait + 0.02, "p95": null, "waits": waits(wait) },
        ],
    })
}

pub(crate) fn sample(at: f64, refused: f64, wait: f64) -> Sample {
    of(&sample_value(at, refused, wait))
}

pub(crate) fn greeting() -> Greeting {
    let samples = (1..=60).map(|second| sample(940.0 + f64::from(second), f64::from(second), 0.4)).collect();
    let history = History { classes: names(), samples };
    let changes: Changes = of(&json!({ "changes": [
        { "id": 2, "at": 970.0, "event": "knobs", "who": "127.0.0.1:41730 (ops)", "what": "knobs",
          "old": { "differentiation": 0.9, "favour": 0.5 }, "new": { "differentiation": 0.7, "favour": 0.5 } },
        { "id": 1, "at": 200.0, "event": "drain", "who": "user 0", "what": "draining", "old": false, "new": true },
    ] }));
    Greeting { state: state(), history, changes }
}

pub(crate) fn queue() -> Queue {
    of(&json!({ "waiting": 2, "requests": [
        { "id": "30bd30000001f", "class": "basic", "stage": "class", "age": 1.25, "client": "192.0.2.7", "method": "GET", "path": "/cart" },
        { "id": "30bd300000020", "class": null, "stage": null, "age": 0.01, "client": "2001:db8::1", "method": "POST", "path": "/a\u{1b}[2Jb" },
    ] }))
}

/// Of less differentiation than 0.9: less of the first class, more of the second.
pub(crate) fn foresight(knobs: &[Knobs]) -> Foresight {
    let estimate = |mean: f64| json!({ "mean": mean, "ci": [mean * 0.9, mean * 1.1] });
    let class = |name: &str, factor: f64| json!({ "name": name, "completed": estimate(2.0 * factor), "completion": estimate(0.5 * factor), "p50": estimate(0.1), "p95": estimate(0.4 / factor) });
    let point = |knobs: &Knobs| {
        let factor = if knobs.differentiation < 0.9 { 0.8 } else { 1.0 };
        json!({ "differentiation": knobs.differentiation, "favour": knobs.favour, "throughput": estimate(4.0), "utilization": estimate(0.97),
                "classes": [class("premium", factor), class("basic", 2.0 - factor)] })
    };
    of(&json!({
        "load": { "seconds": 180.0, "requests": 4000, "sessions": 300, "classes": [] },
        "points": knobs.iter().map(point).collect::<Vec<_>>(), "remarks": ["it takes users for patient"], "took": 1.5,
    }))
}

/// In 100 s so many sessions of each class have ended, of which such a share was completed.
pub(crate) fn outcome(sessions: u32, premium: f64, basic: f64) -> Outcome {
    let class = |name: &str, share: f64| {
        json!({ "name": name, "starts": f64::from(sessions) / 100.0,
        "completed": f64::from(sessions) / 100.0 * share, "completion": share, "sessions": sessions, "p50": 0.1, "p95": 0.4 })
    };
    of(
        &json!({ "from": 1000.0, "to": 1100.0, "classes": [class("premium", premium), class("basic", basic)] }),
    )
}
