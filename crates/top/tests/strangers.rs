//! What is at the other end may be anything.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a panic is how a test reports")]

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::net::UnixListener;
use std::time::{Duration, Instant};

use testkit::{Hostile, free_address};
use top::{Client, Fault, Look, Place, Token, look};

fn ask(place: &str, token: Option<&str>) -> Result<Look, Fault> {
    let token = token.map(|token| Token::new(token).unwrap());
    let client = Client::new(place.parse::<Place>().unwrap(), token);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(look(&client))
}

/// Reads the head of a request.
fn request(mut stream: &TcpStream) -> String {
    let mut head = Vec::new();
    let mut piece = [0; 1024];
    while !head.windows(4).any(|four| four == b"\r\n\r\n") {
        match stream.read(&mut piece) {
            Ok(length @ 1..) => head.extend_from_slice(&piece[..length]),
            _ => break,
        }
    }
    String::from_utf8_lossy(&head).into_owned()
}

/// A server that gives each request the same answer, whatever it is.
fn answering(answer: impl Into<Vec<u8>>) -> Hostile {
    let answer = answer.into();
    Hostile::start(
        move |mut stream: &TcpStream, _| {
            while !request(stream).is_empty() && stream.write_all(&answer).is_ok() {}
        },
    )
}

fn response(status: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

#[track_caller]
fn refused(server: &Hostile) -> Fault {
    ask(&server.address().to_string(), None).expect_err("this is no gate")
}

const STATE: &str = r#"{"mode": "enforce", "knobs": {"differentiation": 0.9, "favour": 0.5}, "window": 16, "in_service": 3,
    "queues": {"acceptor": 0, "pending": 0, "discard": 0, "class": 5},
    "classes": [{"name": "premium\u001b]0;owned\u0007"}, {"name": "basic"}]}"#;

/// An old gate, which has a state and nothing else, and closes a connection after so many answers.
fn old_gate(most: usize) -> Hostile {
    Hostile::start(move |mut stream: &TcpStream, _| {
        for _ in 0..most {
            let asked = request(stream);
            let answer = if asked.starts_with("GET /api/v1/state ") {
                response("200 OK", STATE)
            } else {
                response("404 Not Found", r#"{"error": "there is no such thing"}"#)
            };
            if asked.is_empty() || stream.write_all(answer.as_bytes()).is_err() {
                return;
            }
        }
    })
}

#[test]
fn a_gate_is_shown_and_its_names_are_harmless() {
    let gate = old_gate(usize::MAX);
    let look = ask(&gate.address().to_string(), None).unwrap();
    let table = look.to_string();
    for part in ["premium\u{fffd}]0;owned\u{fffd} ", "window 16", "waiting 5", "differentiation 0.9"] {
        assert!(table.contains(part), "{part}: {table}");
    }
    assert!(!table.contains('\u{1b}'), "{table}");
    let json: serde_json::Value = serde_json::from_str(&look.json()).unwrap();
    assert_eq!(json["state"]["classes"][0]["name"], "premium\u{1b}]0;owned\u{7}", "as the gate said it");
    assert_eq!((&json["sample"], look.json().lines().count()), (&serde_json::Value::Null, 1));
}

#[test]
fn where_there_is_nothing_it_is_said_where_that_was_looked_for() {
    let nowhere = free_address();
    let why = ask(&nowhere.to_string(), None).unwrap_err().to_string();
    for part in [&*format!("http://{nowhere}: no gate answers there"), "refused", "unix:PATH", "ssh://"] {
        assert!(why.contains(part), "{part}: {why}");
    }
    let why = ask("unix:/nowhere/admin.sock", None).unwrap_err().to_string();
    assert!(why.contains("unix:/nowhere/admin.sock: no gate answers there: No such file"), "{why}");
    let why = ask("does-not-exist.invalid:9090", None).unwrap_err().to_string();
    assert!(why.contains("http://does-not-exist.invalid:9090: no gate answers there"), "{why}");
}

#[test]
fn what_is_no_gate_is_told_from_one() {
    for (answer, part) in [
        (response("200 OK", "<html>welcome</html>"), "its answer is not JSON"),
        (response("200 OK", "{}"), "its state cannot be read: missing field"),
        (response("200 OK", "[1, 2"), "not JSON"),
        (response("404 Not Found", "no"), "it answers 404 Not Found"),
        (response("404 Not Found", r#"{"error": "nothing"}"#), "it has no /api/v1/state"),
        (response("302 Found", ""), "it answers 302 Found"),
        ("SSH-2.0-OpenSSH_9.2p1 Debian\r\n".to_owned(), "is not HTTP"),
        ("\u{1b}[2J\0\0\0".repeat(100), "is not HTTP"),
    ] {
        let fault = refused(&answering(answer.clone()));
        let why = fault.to_string();
        assert!(why.contains("not the admin interface of a gate") && why.contains(part), "{answer:?}: {why}");
        assert!(!fault.is_usage() && !why.contains('\u{1b}'), "{why}");
    }
}

#[test]
fn a_connection_that_breaks_is_no_answer() {
    for answer in ["HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{", "HTTP/1.1 200 OK\r\ncontent-le", ""] {
        let server = Hostile::start(move |mut stream: &TcpStream, _| {
            request(stream);
            let _ = stream.write_all(answer.as_bytes());
        });
        let why = refused(&server).to_string();
        assert!(why.contains("the connection broke"), "{answer:?}: {why}");
    }
}

#[test]
fn an_answer_without_an_end_is_not_kept() {
    let server = Hostile::start(|mut stream: &TcpStream, _| {
        request(stream);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
        while stream.write_all(&[b' '; 1 << 16]).is_ok() {}
    });
    let why = refused(&server).to_string();
    assert!(why.contains("its answer has no end"), "{why}");
    let server = Hostile::start(|mut stream: &TcpStream, _| {
        request(stream);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n");
        while stream.write_all(b"x: y\r\n").is_ok() {}
    });
    let why = refused(&server).to_string();
    assert!(why.contains("not HTTP"), "{why}");
}

#[test]
fn one_that_never_answers_is_not_waited_for() {
    let server = Hostile::start(|mut stream: &TcpStream, _| {
        request(stream);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n");
        // A byte now and then does not make an answer.
        while stream.write_all(b" ").is_ok() {
            std::thread::sleep(Duration::from_secs(1));
        }
    });
    let began = Instant::now();
    let why = refused(&server).to_string();
    assert!(why.contains("no answer within 10 s"), "{why}");
    assert!(began.elapsed() < Duration::from_secs(60));
}

#[test]
fn a_token_is_asked_for_and_shown() {
    for (status, part) in [
        (
            "401 Unauthorized",
            "the gate wants a token (show one\u{fffd}); give one of its token-file with --token-file FILE",
        ),
        ("403 Forbidden", "does not allow it: show one"),
    ] {
        let fault = refused(&answering(response(status, r#"{"error": "show one\u001b"}"#)));
        assert!(fault.is_usage() && fault.to_string().contains(part), "{fault}");
    }
    let place = tempfile::tempdir().unwrap().keep().join("admin.sock");
    let socket = UnixListener::bind(&place).unwrap();
    let asked = std::thread::spawn(move || {
        let (mut stream, _) = socket.accept().unwrap();
        let mut head = vec![0; 4096];
        let length = stream.read(&mut head).unwrap();
        stream.write_all(response("503 Busy", r#"{"error": "later"}"#).as_bytes()).unwrap();
        String::from_utf8_lossy(&head[..length]).into_owned()
    });
    let fault = ask(&format!("unix:{}", place.display()), Some("0123456789abcdef")).unwrap_err();
    assert_eq!(fault.to_string(), "later");
    let asked = asked.join().unwrap().to_lowercase();
    assert!(asked.contains("authorization: bearer 0123456789abcdef\r\n"), "{asked}");
    assert!(asked.contains("host: localhost\r\n"), "{asked}");
    std::fs::remove_dir_all(place.parent().unwrap()).unwrap();
}

#[test]
fn a_connection_that_was_kept_too_long_is_made_anew() {
    // And no word with the answer that it is the last.
    assert!(ask(&old_gate(1).address().to_string(), None).is_ok());
}
