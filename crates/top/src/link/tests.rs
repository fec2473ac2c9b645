//! Conversations with gates that are full, lost, or changed by somebody else.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::{Hostile, PATIENCE};
use tokio::sync::mpsc;

use super::conversation::talk;
use super::news::{News, Order};
use crate::api::state::{Knobs, Setting};
use crate::http::client::Client;
use crate::samples;

const HELD: Knobs = Knobs { differentiation: 0.9, favour: 0.5 };
const SET: Setting = Setting { differentiation: Some(0.8), favour: None };

/// A request: its first line and body.
fn request(mut stream: &TcpStream) -> Option<(String, String)> {
    let mut bytes = Vec::new();
    let mut piece = [0; 1024];
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                return Some((head.lines().next()?.to_owned(), body.to_owned()));
            }
        }
        match stream.read(&mut piece) {
            Ok(length @ 1..) => bytes.extend_from_slice(&piece[..length]),
            _ => return None,
        }
    }
}

/// What a gate does: an answer, or none, which closes the connection.
type Does = Option<(u16, Value)>;

/// A gate that knows a state, and does with the rest, events too, what `does` says.
fn gate(does: impl Fn(&str, &str) -> Does + Send + Sync + 'static) -> Hostile {
    Hostile::start(move |mut stream: &TcpStream, _| {
        while let Some((line, body)) = request(stream) {
            let Some((status, body)) = does(&line, &body).or_else(|| match &*line {
                "GET /api/v1/state HTTP/1.1" => Some((200, samples::state_value())),
                _ if line.starts_with("GET /api/v1/history") => {
                    let samples = [samples::sample_value(2000.0, 0.0, 0.0)];
                    Some((200, json!({ "classes": samples::names(), "samples": samples })))
                }
                "GET /api/v1/changes HTTP/1.1" => Some((200, json!({ "changes": [] }))),
                _ => None,
            }) else {
                return;
            };
            let body = body.to_string();
            let answer = format!("HTTP/1.1 {status} Some\r\ncontent-length: {}\r\n\r\n{body}", body.len());
            if stream.write_all(answer.as_bytes()).is_err() {
                return;
            }
        }
    })
}

fn full(line: &str) -> Does {
    line.contains("/events").then(|| (503, json!({ "error": "too many listen already" })))
}

struct Talking {
    news: Receiver<News>,
    orders: mpsc::Sender<Order>,
}

impl Talking {
    fn with(gate: &Hostile, room: usize) -> Self {
        let client = Arc::new(Client::new(gate.address().to_string().parse().unwrap(), None));
        let (tell, news) = sync_channel(room);
        let (orders, ordered) = mpsc::channel(16);
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(talk(client, samples::greeting(), tell, ordered));
        });
        Self { news, orders }
    }

    /// The first news that `is` it; panics at news that are `wrong`.
    #[track_caller]
    fn wait_for(&self, wrong: fn(&News) -> bool, is: fn(&News) -> bool) -> News {
        let end = Instant::now() + PATIENCE;
        loop {
            let news = self.news.recv_timeout(end.saturating_duration_since(Instant::now())).unwrap();
            assert!(!wrong(&news), "{news:?}");
            if is(&news) {
                return news;
            }
        }
    }
}

fn is_lost(news: &News) -> bool {
    matches!(news, News::Lost(_))
}

#[test]
fn a_gate_to_which_too_many_listen_is_asked_instead() {
    let gate = gate(|line, _| full(line));
    let talking = Talking::with(&gate, 64);
    let told = talking.wait_for(is_lost, |news| matches!(news, News::Polling(_)));
    assert!(matches!(told, News::Polling(Some(why)) if why == "too many listen already"));
    for _ in 0..2 {
        talking
            .wait_for(is_lost, |news| matches!(news, News::Samples(history) if history.samples.len() == 1));
        talking.wait_for(is_lost, |news| matches!(news, News::State(_)));
    }
}

#[test]
fn a_gate_that_is_asked_and_has_restarted_is_met_anew() {
    let began = Instant::now();
    let gate = gate(move |line, _| {
        let mut state = samples::state_value();
        if began.elapsed() > Duration::from_secs(1) {
            state["started"] = json!(999.0);
        }
        full(line).or_else(|| line.contains("/state").then_some((200, state)))
    });
    let talking = Talking::with(&gate, 64);
    talking.wait_for(
        is_lost,
        |news| matches!(news, News::Met(greeting) if greeting.state.started == Some(999.0)),
    );
}

#[test]
fn a_move_names_what_it_moves_and_from_where() {
    let gate = gate(|line, body| {
        let other = line.starts_with("PATCH").then(|| {
            let expected =
                json!({ "differentiation": 0.8, "expected": { "differentiation": 0.9, "favour": 0.5 } });
            let is_so = serde_json::from_str::<Value>(body).unwrap() == expected;
            (if is_so { 409 } else { 400 }, json!({ "error": "the knobs are others by now" }))
        });
        other.or_else(|| full(line)).or_else(|| {
            let mut state = samples::state_value();
            state["knobs"]["favour"] = json!(0.1);
            line.contains("/state").then_some((200, state))
        })
    });
    let talking = Talking::with(&gate, 64);
    talking.orders.blocking_send(Order::Move { expected: HELD, set: SET }).unwrap();
    let news = talking.wait_for(
        |news| matches!(news, News::Moved { .. } | News::NotMoved(_)),
        |news| matches!(news, News::Overtaken { .. }),
    );
    let News::Overtaken { set, state, .. } = news else { unreachable!() };
    assert_eq!((set, state.knobs.favour), (SET, 0.1));
}

#[test]
fn a_change_under_way_when_the_gate_is_lost_is_answered() {
    // The change is taken, and is not answered; meanwhile all else fails.
    let gate = gate(|line, _| {
        if line.starts_with("POST /api/v1/drain") {
            thread::sleep(Duration::from_secs(5));
            return None;
        }
        full(line).or_else(|| line.contains("/state").then(|| (500, json!({ "error": "ill" }))))
    });
    let talking = Talking::with(&gate, 64);
    talking.orders.blocking_send(Order::Drain(true)).unwrap();
    talking.wait_for(|news| matches!(news, News::Done(_)), is_lost);
    let news = talking.wait_for(|_| false, |news| matches!(news, News::Done(_)));
    let News::Done(Err(why)) = news else { panic!("{news:?}") };
    assert!(why.contains("not known whether it was done"), "{why}");
}

#[test]
fn a_screen_that_hangs_has_the_answers_to_its_orders_later() {
    let gate = gate(|line, _| full(line).or_else(|| line.contains("/drain").then(|| (200, json!({})))));
    let talking = Talking::with(&gate, 1);
    for _ in 0..3 {
        talking.orders.blocking_send(Order::Drain(true)).unwrap();
    }
    // Longer than answers take; there is room for one.
    thread::sleep(Duration::from_secs(2));
    for _ in 0..3 {
        talking.wait_for(is_lost, |news| matches!(news, News::Done(Ok(_))));
    }
}

#[test]
fn what_was_ordered_last_is_done_after_the_screen_has_ended() {
    let (done, was_done) = sync_channel(1);
    let gate = gate(move |line, _| {
        let drain = line.contains("/drain").then(|| (200, json!({})));
        if drain.is_some() {
            let _ = done.try_send(());
        }
        drain.or_else(|| full(line))
    });
    let Talking { news, orders } = Talking::with(&gate, 64);
    orders.blocking_send(Order::Drain(true)).unwrap();
    drop((news, orders));
    was_done.recv_timeout(PATIENCE).unwrap();
}

#[test]
fn what_came_of_sessions_is_asked_with_the_moment_and_a_prediction_with_all_knobs() {
    let gate = gate(|line, body| {
        if line.starts_with("GET /api/v1/outcome?since=1000.500 ") {
            return Some((
                200,
                json!({ "from": 1000.5, "to": 1010.0, "classes": [{ "name": "a", "sessions": 3 }] }),
            ));
        }
        if line.starts_with("POST /api/v1/foresight") {
            let expected = json!({ "knobs": [{ "differentiation": 0.9, "favour": 0.5 }] });
            assert_eq!(serde_json::from_str::<Value>(body).unwrap(), expected);
            return Some((503, json!({ "error": "too little seen" })));
        }
        full(line)
    });
    let talking = Talking::with(&gate, 64);
    talking.orders.blocking_send(Order::LookBack { since: 1000.5 }).unwrap();
    talking.orders.blocking_send(Order::Foresee(vec![HELD])).unwrap();
    let (mut outcome, mut foreseen) = (None, None);
    while outcome.is_none() || foreseen.is_none() {
        let is = |news: &News| matches!(news, News::Outcome { .. } | News::Foreseen { .. });
        match talking.wait_for(is_lost, is) {
            News::Outcome { since: 1000.5, told } => outcome = Some(told.unwrap().sessions()),
            News::Foreseen { told, .. } => foreseen = told.err(),
            news => panic!("{news:?}"),
        }
    }
    assert_eq!((outcome, foreseen.as_deref()), (Some(3.0), Some("too little seen")));
}
