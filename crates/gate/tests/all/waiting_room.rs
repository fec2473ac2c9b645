//! The waiting room: places that hold, and who is let in when.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::sync::Mutex;
use std::time::Duration;

use crate::common::{Gate, Held, answer, read_head, request};
use testkit::{Hostile, Raw, Response};

const FULL: &str = "window = 1\ndifferentiation = 0\n[limits]\nclass-queues = 1\ndiscard-queues = 0\n\
                    discard-periods = 0\n[waiting-room]\nenabled = true\n";

/// Has the server at work on one request, and another wait for it.
fn fill(gate: &Gate, server: &Held) -> Vec<Raw> {
    let mut held = vec![gate.connect(), gate.connect()];
    held[0].send(request("/", ""));
    assert_eq!(server.next(), "/");
    held[1].send(request("/", ""));
    gate.wait_for_queue(1);
    held
}

/// The value of the place's cookie that a response sets.
fn place_cookie(response: &Response) -> Option<&str> {
    let start = response.head.find("headworks-place=")?;
    let value = &response.head[start + "headworks-place=".len()..];
    Some(&value[..value.find(';').unwrap()])
}

fn json(gate: &Gate, headers: &str) -> serde_json::Value {
    let response = gate.get("/", &format!("Accept: application/json\r\n{headers}"));
    assert_eq!(response.status, 503, "{}", response.head);
    let problem: serde_json::Value = serde_json::from_slice(&response.body).unwrap();
    assert_eq!(response.header("retry-after").unwrap(), problem["retry_after"].to_string());
    assert_eq!(response.header("headworks-place").unwrap(), problem["place_token"]);
    problem
}

/// Somebody who comes for the first time, so long after the one before that the gate need not guess who was first.
fn newcomer(gate: &Gate) -> serde_json::Value {
    std::thread::sleep(Duration::from_millis(100));
    json(gate, "")
}

fn with_cookie(problem: &serde_json::Value) -> String {
    format!("Cookie: headworks-place={}\r\n", problem["place_token"].as_str().unwrap())
}

#[test]
fn a_place_is_told_in_the_form_asked_for_and_holds() {
    let server = Held::start();
    let gate = Gate::start(server.address(), FULL);
    let _held = fill(&gate, &server);
    let first = newcomer(&gate);
    assert_eq!((&first["place"], &first["waiting"]), (&1.into(), &1.into()));
    let second = newcomer(&gate);
    assert_eq!((&second["place"], &second["waiting"]), (&2.into(), &2.into()));
    // Too soon, too often, by cookie or by header: it is the same place.
    for _ in 0..3 {
        let token = second["place_token"].as_str().unwrap();
        assert_eq!(json(&gate, &with_cookie(&second))["place"], 2);
        assert_eq!(json(&gate, &format!("Headworks-Place: {token}\r\n"))["place"], 2);
        assert_eq!(json(&gate, &with_cookie(&first))["place"], 1);
    }
    let state = gate.state();
    assert_eq!(state["classes"][1]["waiting_room"]["waiting"], 2);
    assert_eq!(state["classes"][0]["waiting_room"]["waiting"], 0);

    let page = gate.get("/", &format!("Accept: text/html\r\n{}", with_cookie(&first)));
    let seconds = page.header("retry-after").unwrap();
    for part in [format!("http-equiv=\"refresh\" content=\"{seconds}\""), "<dd>1</dd>".to_owned()] {
        assert!(page.text().contains(&part), "{part} in {}", page.text());
    }
    for attribute in ["HttpOnly", "SameSite=Lax", "Path=/"] {
        assert!(page.header("set-cookie").unwrap().contains(attribute), "{}", page.head);
    }
    let form = gate
        .connect()
        .send("POST / HTTP/1.1\r\nHost: t\r\nAccept: text/html\r\nContent-Length: 0\r\n\r\n")
        .response();
    assert!(!form.text().contains("http-equiv") && place_cookie(&form).is_some(), "a form is not sent again");
    assert!(gate.get("/", &with_cookie(&first)).text().starts_with("You are in line: your number is 1,"));
}

#[test]
fn what_is_no_token_is_no_place() {
    let server = Held::start();
    let gate = Gate::start(server.address(), FULL);
    let _held = fill(&gate, &server);
    let first = newcomer(&gate);
    let token = first["place_token"].as_str().unwrap();
    let forged = |at: usize| {
        let mut forged = token.to_owned().into_bytes();
        forged[at] = if forged[at] == b'A' { b'B' } else { b'A' };
        String::from_utf8(forged).unwrap()
    };
    let mut waiting = 1;
    for garbage in
        [String::new(), "x".to_owned(), "=".repeat(64), "A".repeat(4000), forged(5), forged(30), forged(63)]
    {
        let answer =
            json(&gate, &format!("Cookie: headworks-place={garbage}\r\nHeadworks-Place: {garbage}\r\n"));
        waiting += 1;
        assert_eq!(answer["place"], waiting, "{garbage}");
    }
    // Behind other cookies of its name the token is found.
    let cookies = format!("Cookie: headworks-place=x; a=b; headworks-place={token}\r\n");
    assert_eq!(json(&gate, &cookies)["place"], 1);
}

#[test]
fn a_place_outlives_a_new_configuration_and_a_new_gate() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("room.html"), "{{refresh}}{{place}} of {{waiting}}, {{minutes}}")
        .unwrap();
    let server = Held::start();
    let text = format!(
        "listen = '127.0.0.1:0'\nadmin = '127.0.0.1:0'\nupstream = '{}'\n{FULL}page = 'room.html'\n[session]\n\
         secret = 'a secret of several gates'\n",
        server.address()
    );
    let gate = Gate::run(&text, directory.path());
    let mut held = fill(&gate, &server);
    let places = [(); 3].map(|()| newcomer(&gate));
    let page = gate.get("/", &format!("Accept: text/html\r\n{}", with_cookie(&places[2])));
    assert!(page.text().ends_with(">3 of 3, ?"), "{}", page.text());
    assert_eq!(gate.ask("POST", "/api/v1/reload", "").status, 200);
    assert_eq!(json(&gate, &with_cookie(&places[1]))["place"], 2);
    assert_eq!(newcomer(&gate)["place"], 4);
    // Another gate knows no visitor, and of one that shows a token when that one came.
    let other = Gate::run(&text, directory.path());
    held.push(other.connect());
    held[2].send(request("/", ""));
    assert_eq!(server.next(), "/");
    held.push(other.connect());
    held[3].send(request("/", ""));
    other.wait_for_queue(1);
    assert_eq!(newcomer(&other)["place"], 1);
    assert_eq!(json(&other, &with_cookie(&places[2]))["place"], 1);
    assert_eq!(newcomer(&other)["place"], 3);
}

#[test]
fn who_needs_no_place_has_none() {
    let server = Held::start();
    let gate = Gate::start(server.address(), &format!("{FULL}[session]\nexcept = ['/assets/*']\n"));
    let _held = fill(&gate, &server);
    let asset = gate.get("/assets/a.css", "");
    assert_eq!((asset.status, asset.header("headworks-place"), place_cookie(&asset)), (503, None, None));
    let off = Gate::start(server.address(), &FULL.replace("true", "false"));
    let mut held = [off.connect(), off.connect()];
    held[0].send(request("/", ""));
    assert_eq!(server.next(), "/");
    held[1].send(request("/", ""));
    off.wait_for_queue(1);
    let refused = off.get("/", "");
    assert_eq!(
        (refused.status, refused.header("headworks-place"), place_cookie(&refused)),
        (503, None, None)
    );
}

/// What became of one visitor.
struct Visitor {
    places: Vec<u64>,
    let_in: usize,
    cookies: String,
}

/// Comes back as told until it is let in.
fn visit(gate: &Gate, let_in: &Mutex<usize>) -> Visitor {
    let (mut places, mut cookie) = (Vec::new(), String::new());
    loop {
        let response = gate.get("/", &format!("Accept: application/json\r\n{cookie}"));
        if response.status == 200 {
            let mut count = let_in.lock().unwrap();
            *count += 1;
            assert!(!response.text().to_lowercase().contains("headworks-place"), "{}", response.text());
            return Visitor { places, let_in: *count, cookies: response.head };
        }
        let problem: serde_json::Value = serde_json::from_slice(&response.body).unwrap();
        places.push(problem["place"].as_u64().unwrap());
        cookie = format!("Cookie: headworks-place={}\r\n", place_cookie(&response).unwrap());
        std::thread::sleep(Duration::from_secs(problem["retry_after"].as_u64().unwrap()));
    }
}

#[test]
fn visitors_are_let_in_in_the_order_in_which_they_came() {
    const VISITORS: usize = 80;
    let server = Hostile::start(|stream, _| {
        while let Some(head) = read_head(stream) {
            // What the server is there to do.
            std::thread::sleep(Duration::from_millis(200));
            if answer(stream, "", &head).is_none() {
                break;
            }
        }
    });
    let more = "window = 2\nfavour = 0\n[deadlines]\nclass = '2s'\n[waiting-room]\nenabled = true\n";
    let gate = Gate::start(server.address(), more);
    let let_in = Mutex::new(0);
    let visitors: Vec<Visitor> = std::thread::scope(|scope| {
        let all: Vec<_> = (0..VISITORS)
            .map(|_| {
                std::thread::sleep(Duration::from_millis(30));
                scope.spawn(|| visit(&gate, &let_in))
            })
            .collect();
        all.into_iter().map(|visitor| visitor.join().unwrap()).collect()
    });
    let waited = visitors.iter().filter(|visitor| !visitor.places.is_empty()).count();
    assert!(waited > VISITORS / 2, "only {waited} had to wait");
    for visitor in &visitors {
        assert!(visitor.places.is_sorted_by(|before, after| before >= after), "{:?}", visitor.places);
        let ends = visitor.cookies.contains("headworks-place=; Path=/; Max-Age=0");
        assert_eq!(ends, !visitor.places.is_empty(), "{}", visitor.cookies);
    }
    let order: Vec<usize> = visitors.iter().map(|visitor| visitor.let_in).collect();
    // By chance halves would be alike; in perfect order they are half of the number apart.
    let mean = |half: &[usize]| half.iter().sum::<usize>() as f64 / half.len() as f64;
    let apart = mean(&order[VISITORS / 2..]) - mean(&order[..VISITORS / 2]);
    assert!(apart > VISITORS as f64 * 0.35, "{apart}: {order:?}");
    gate.wait_for("an empty room", |state| state["classes"][1]["waiting_room"]["waiting"] == 0);
}
