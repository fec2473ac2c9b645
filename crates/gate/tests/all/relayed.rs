//! What a server sends, and what of it reaches the client.
#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use crate::common::{Gate, read_head, session};
use testkit::{Hostile, Raw};

/// A response as a client reads it: heads, and what follows the last.
#[derive(Debug, PartialEq, Eq)]
struct Parts {
    /// Status lines with the field lines after them, in order.
    heads: Vec<(String, Vec<String>)>,
    body: Vec<u8>,
    trailers: Vec<String>,
}

/// Fields of the hop, or that a proxy has to add (RFC 9110 sections 6.6.1 and 7.6.1).
const OF_THE_HOP: [&str; 5] = ["connection:", "keep-alive:", "transfer-encoding:", "date:", "trailer:"];

#[track_caller]
fn read(bytes: &[u8], method: &str) -> Parts {
    let mut rest = bytes;
    let mut heads = Vec::new();
    let is_chunked = loop {
        let end = rest.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or_else(|| {
            panic!("no whole head in {}", bytes.escape_ascii());
        });
        let head: String = rest[..end].iter().map(|byte| char::from(*byte)).collect();
        rest = &rest[end + 4..];
        let mut lines = head.split("\r\n").map(str::to_owned);
        let status = lines.next().unwrap();
        let lines: Vec<String> = lines
            .map(|line| {
                let (name, value) = line.split_once(':').unwrap();
                format!("{}:{}", name.to_lowercase(), value.trim())
            })
            .collect();
        let is_chunked = lines.iter().any(|line| line == "transfer-encoding:chunked");
        let kept = lines.into_iter().filter(|line| !OF_THE_HOP.iter().any(|name| line.starts_with(name)));
        let is_interim = status.split(' ').nth(1).unwrap().starts_with('1');
        heads.push((status, kept.collect()));
        if !is_interim {
            break is_chunked && method != "HEAD";
        }
    };
    let (mut body, mut trailers) = (rest.to_vec(), Vec::new());
    if is_chunked {
        body = Vec::new();
        loop {
            let line = rest.windows(2).position(|two| two == b"\r\n").unwrap_or_else(|| {
                panic!("no whole chunk in {}", bytes.escape_ascii());
            });
            let size = std::str::from_utf8(&rest[..line]).unwrap();
            let size = usize::from_str_radix(size.trim(), 16).unwrap();
            rest = &rest[line + 2..];
            if size == 0 {
                let text = std::str::from_utf8(rest).unwrap();
                trailers = text.split("\r\n").filter(|line| !line.is_empty()).map(str::to_owned).collect();
                break;
            }
            body.extend_from_slice(&rest[..size]);
            rest = &rest[size + 2..];
        }
    }
    Parts { heads, body, trailers }
}

/// Answers each request with what `answers` has at the number in its path.
fn scripted(answers: Vec<Vec<u8>>) -> Hostile {
    Hostile::start(move |mut stream, _| {
        while let Some(head) = read_head(stream) {
            let number = head.split(['/', ' ']).nth(2).unwrap().parse::<usize>();
            let answer = match number {
                Ok(number) => answers[number].clone(),
                Err(_) => b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n".to_vec(),
            };
            let ends = !String::from_utf8_lossy(&answer).to_lowercase().contains("\r\ncontent-length:")
                && !String::from_utf8_lossy(&answer).to_lowercase().contains("\r\ntransfer-encoding:");
            if stream.write_all(&answer).is_err() || ends || head.contains("close") {
                return;
            }
        }
    })
}

fn ask(address: SocketAddr, number: usize, method: &str, lines: &str) -> Vec<u8> {
    let request = format!(
        "{method} /{number} HTTP/1.1\r\nHost: t\r\nTE: trailers\r\nConnection: te, close\r\n{lines}\r\n"
    );
    Raw::connect(address).send(request).until_closed()
}

/// A head with these lines, and a body of two bytes.
fn with(lines: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\n{lines}Content-Length: 2\r\n\r\nok").into_bytes()
}

#[test]
fn a_response_is_what_the_server_made_it() {
    let cookies: String = (0..60).map(|n| format!("Set-Cookie: c{n}={}\r\n", "x".repeat(1000))).collect();
    let many: String = (0..200).map(|n| format!("X-{n}: {n}\r\n")).collect();
    let latin = [b"HTTP/1.1 200 OK\r\nX-Name: \xdcber.csv\r\nContent-Length: 2\r\n\r\nok".to_vec()].concat();
    let cases: Vec<(&str, &str, Vec<u8>)> = vec![
        ("hints", "GET", [b"HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n", &with("")[..]].concat()),
        (
            "processing",
            "GET",
            [&b"HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 102 Processing\r\nX-Done: 7\r\n\r\n"[..], &with("")].concat(),
        ),
        ("own reason", "GET", b"HTTP/1.1 404 Nothing of the kind\r\nContent-Length: 0\r\n\r\n".to_vec()),
        ("no reason", "GET", b"HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n".to_vec()),
        ("unknown status", "GET", b"HTTP/1.1 799 Odd\r\nContent-Length: 2\r\n\r\nok".to_vec()),
        ("304 with a length", "GET", b"HTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\nETag: \"x\"\r\n\r\n".to_vec()),
        ("HEAD with a length", "HEAD", b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n".to_vec()),
        ("HEAD with chunks", "HEAD", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec()),
        (
            "HEAD with both",
            "HEAD",
            b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec(),
        ),
        ("large head", "GET", with(&cookies)),
        ("many fields", "GET", with(&many)),
        ("one long field", "GET", with(&format!("X-Long: {}\r\n", "y".repeat(90_000)))),
        ("double fields", "GET", with("Set-Cookie: a=1\r\nSet-Cookie: b=2\r\nX-A: 2\r\nX-A: 1\r\nWarning: x\r\n")),
        ("bytes above ASCII", "GET", latin),
        ("empty value", "GET", with("X-Empty:\r\n")),
        ("date and server", "GET", with("Server: mine\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\n")),
        ("partial", "GET", b"HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-1/9\r\nContent-Length: 2\r\n\r\nok".to_vec()),
        (
            "trailers",
            "GET",
            b"HTTP/1.1 200 OK\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nx-sum: 9\r\n\r\n".to_vec(),
        ),
        (
            "trailers of an empty body",
            "GET",
            b"HTTP/1.1 200 OK\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nx-sum: 9\r\n\r\n".to_vec(),
        ),
        ("until the end", "GET", b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nno length".to_vec()),
        ("nothing", "GET", b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".to_vec()),
        ("205", "POST", b"HTTP/1.1 205 Reset Content\r\nContent-Length: 0\r\n\r\n".to_vec()),
    ];
    let server = scripted(cases.iter().map(|(_, _, answer)| answer.clone()).collect());
    let gate = Gate::start(server.address(), "");
    let known = session(&gate.get("/begin", ""));
    for (number, (name, method, _)) in cases.iter().enumerate() {
        let lines = if *method == "POST" { "Content-Length: 0\r\n" } else { "" };
        let direct = read(&ask(server.address(), number, method, lines), method);
        let through = read(&ask(gate.address, number, method, &format!("{known}{lines}")), method);
        assert_eq!(through, direct, "{name}");
    }
}

#[test]
fn what_cannot_be_understood_is_said() {
    let answers = vec![
        with(&(0..600).map(|n| format!("X-{n}: {n}\r\n")).collect::<String>()),
        with(&format!("X-Long: {}\r\n", "y".repeat(300_000))),
        b"HTTP/1.1 200 OK\r\nX-A: a\r\n b\r\nContent-Length: 2\r\n\r\nok".to_vec(),
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"
            .to_vec(),
        b"".to_vec(),
    ];
    let server = scripted(answers);
    let gate = Gate::start(server.address(), "");
    for (number, why) in [(0, "larger"), (1, "larger"), (2, "not HTTP"), (3, "not HTTP"), (4, "broke off")] {
        let answer = ask(gate.address, number, "GET", "");
        let text = String::from_utf8_lossy(&answer).into_owned();
        assert!(text.starts_with("HTTP/1.1 502") && text.contains(why), "{number}: {text}");
    }
}

#[test]
fn the_limits_of_a_head_are_settings() {
    let server = scripted(vec![
        with(&(0..60).map(|n| format!("X-{n}: {n}\r\n")).collect::<String>()),
        with(&format!("X-Long: {}\r\n", "y".repeat(20_000))),
    ]);
    let upstream = format!("address = '{}', max-fields = 50, max-head = '16KiB'", server.address());
    let gate = Gate::before(&upstream, "");
    for number in 0..2 {
        let answer = ask(gate.address, number, "GET", "");
        assert!(answer.starts_with(b"HTTP/1.1 502"), "{}", answer.escape_ascii());
    }
}

#[test]
fn interim_responses_come_before_what_follows_them() {
    let (tell, told) = std::sync::mpsc::channel::<()>();
    let told = std::sync::Mutex::new(told);
    let server = Hostile::start(move |mut stream, _| {
        while let Some(head) = read_head(stream) {
            if head.contains("/begin") {
                stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").unwrap();
                continue;
            }
            stream.write_all(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n").unwrap();
            if head.contains("/wait") {
                told.lock().unwrap().recv().unwrap();
            }
            stream.write_all(&with("")).unwrap();
        }
    });
    let gate = Gate::start(server.address(), "");
    let known = session(&gate.get("/begin", ""));
    let mut client = gate.connect();
    client.send(crate::common::request("/wait", &known));
    // It is here while the response is not.
    assert!(client.head().starts_with("HTTP/1.1 103 Early Hints\r\nlink: </a>"));
    tell.send(()).unwrap();
    assert_eq!(client.response().text(), "ok");
    // One after the other, also when requests come before they are asked for.
    let both = crate::common::request("/a", &known) + &crate::common::request("/b", &known);
    client.send(both);
    for _ in 0..2 {
        assert!(client.head().starts_with("HTTP/1.1 103"));
        assert_eq!(client.response().text(), "ok");
    }
    // HTTP/1.0 knows no such thing (RFC 9110 section 15.2).
    let old = Raw::connect(gate.address).send("GET /a HTTP/1.0\r\nHost: t\r\n\r\n").until_closed();
    let old = String::from_utf8_lossy(&old).into_owned();
    assert!(old.starts_with("HTTP/1.0 200") && !old.contains("103"), "{old}");
}

#[test]
fn a_response_without_a_date_gets_one() {
    let own = "Date: Thu, 01 Jan 1970 00:00:00 GMT\r\n";
    let server = scripted(vec![with(""), with(own)]);
    let gate = Gate::start(server.address(), "");
    let dates = [0, 1].map(|number| {
        let answer = String::from_utf8(ask(gate.address, number, "GET", "")).unwrap();
        let dates = answer.lines().filter(|line| line.starts_with("date: "));
        dates.map(str::to_owned).collect::<Vec<_>>()
    });
    assert_eq!((dates[0].len(), &dates[1][..]), (1, &["date: Thu, 01 Jan 1970 00:00:00 GMT".to_owned()][..]));
}

#[test]
fn a_request_ends_where_its_client_wants_it_to() {
    let server = crate::common::echo("");
    let gate = Gate::start(server.address(), "");
    let ask = |method: &str, left: u32| {
        let request = format!("{method} / HTTP/1.1\r\nHost: t\r\nMax-Forwards: {left}\r\n\r\n");
        let response = gate.connect().send(request).response();
        (response.status, response.text().to_lowercase())
    };
    let (status, seen) = ask("OPTIONS", 3);
    assert!(status == 200 && seen.contains("max-forwards: 2\r\n"), "{seen}");
    let (status, said) = ask("OPTIONS", 0);
    assert!(status == 200 && said.contains("gate"), "{said}");
    assert_eq!(ask("TRACE", 0).0, 501);
}

#[test]
fn gates_in_front_of_each_other_stop() {
    let free = [(); 2].map(|()| std::net::TcpListener::bind("127.0.0.1:0").unwrap());
    let [one, other] = free.map(|listener| listener.local_addr().unwrap());
    let gates = [(one, other), (other, one)].map(|(listen, upstream)| {
        let text = format!("listen = '{listen}'\nupstream = '{upstream}'\n");
        Gate::run(&text, std::path::Path::new("."))
    });
    assert_eq!(gates[0].get("/", "").status, 508);
}

#[test]
fn fields_of_requests_keep_their_order_and_their_doubles() {
    let server = crate::common::echo("");
    let gate = Gate::start(server.address(), "");
    let lines = "X-Unknown: 1\r\nAccept: a\r\nX-B: 2\r\nAccept: b\r\nX-B: 1\r\n";
    let seen = gate.get("/%7e/a//b/../c?x=%20&&y", lines).text().to_owned();
    assert!(seen.starts_with("GET /%7e/a//b/../c?x=%20&&y HTTP/1.1\r\n"), "{seen}");
    let values = |name: &str| -> Vec<&str> {
        seen.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix(": ")).collect()
    };
    assert_eq!(
        (values("accept"), values("x-b"), values("x-unknown")),
        (vec!["a", "b"], vec!["2", "1"], vec!["1"])
    );
}

/// Asks whether to send a body, and gives what is said to it before it has sent any.
fn asks_first(address: SocketAddr, path: &str) -> (String, Raw) {
    let mut client = Raw::connect(address);
    client
        .send(format!("PUT {path} HTTP/1.1\r\nHost: t\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n"));
    (client.head(), client)
}

#[test]
fn a_server_is_asked_whether_it_wants_a_body() {
    let server = Hostile::start(|mut stream: &TcpStream, _| {
        while let Some(head) = read_head(stream) {
            let asked = head.to_lowercase().contains("expect: 100-continue");
            if head.contains("/no") {
                let _ = stream.write_all(b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n");
                return;
            }
            if head.contains("/yes") {
                stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").unwrap();
            }
            let mut body = [0; 5];
            stream.read_exact(&mut body).unwrap();
            let answer = format!("{asked} {}", String::from_utf8_lossy(&body));
            write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{answer}", answer.len()).unwrap();
        }
    });
    let gate = Gate::start(server.address(), "");
    let (refusal, _) = asks_first(gate.address, "/no");
    assert!(refusal.starts_with("HTTP/1.1 401"), "{refusal}");
    // One that says nothing is taken to want it after a moment.
    for path in ["/yes", "/silent"] {
        let (first, mut client) = asks_first(gate.address, path);
        assert!(first.starts_with("HTTP/1.1 100"), "{first}");
        assert_eq!(client.send("hello").response().text(), "true hello");
    }
}

#[test]
fn trailers_of_requests_pass_whatever_the_size_of_the_body() {
    let server = Hostile::start(|mut stream, _| {
        let Some(_) = read_head(stream) else { return };
        let (mut seen, mut piece) = (Vec::new(), [0; 4096]);
        while !seen.ends_with(b"\r\n\r\n") {
            let Ok(read @ 1..) = stream.read(&mut piece) else { return };
            seen.extend_from_slice(&piece[..read]);
        }
        let end = String::from_utf8_lossy(&seen[seen.len().saturating_sub(40)..]).into_owned();
        let _ = write!(
            stream,
            "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{end}",
            end.len()
        );
    });
    let gate = Gate::start(server.address(), "");
    for length in [0, 5, 100_000] {
        let body =
            if length > 0 { format!("{length:x}\r\n{}\r\n", "x".repeat(length)) } else { String::new() };
        let answer = gate
            .connect()
            .send(format!(
                "POST / HTTP/1.1\r\nHost: t\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n{body}0\r\nX-Sum: 42\r\n\r\n"
            ))
            .response();
        assert!(answer.text().ends_with("0\r\nx-sum: 42\r\n\r\n"), "{length}: {}", answer.text());
    }
}
