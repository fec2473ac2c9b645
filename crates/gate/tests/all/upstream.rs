//! The server behind the gate, and everything it can do wrong.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::{Gate, Held, answer, read_head};
use testkit::{Hostile, PATIENCE, poll_until};

fn origin_at(address: SocketAddr) -> origin::Server {
    let mut options = origin::Options::new(origin::Mode::Workers);
    options.listen = address.into();
    poll_until(PATIENCE, "the port", || origin::Server::start(&options).ok())
}

#[test]
fn a_server_that_dies_and_comes_back() {
    let address = testkit::free_address();
    let gate = Gate::start(address, "");
    let mut client = gate.connect();
    for _ in 0..2 {
        let down = client.get("/bytes/1").response();
        assert_eq!((down.status, down.text()), (502, "The server behind this gate cannot be reached.\n"));
        let server = origin_at(address);
        assert_eq!(client.get("/bytes/1").response().status, 200);
        server.stop();
    }
    assert!(gate.state()["upstream"]["failures"]["connect"].as_u64() >= Some(2));
}

/// A server that sends `bytes` in answer to each request and closes.
fn says(bytes: &'static str) -> Hostile {
    Hostile::start(move |mut stream, _| {
        if read_head(stream).is_some() {
            let _ = stream.write_all(bytes.as_bytes());
        }
        let _ = stream.shutdown(Shutdown::Both);
    })
}

#[test]
fn nonsense_is_a_bad_gateway() {
    for nonsense in [
        "",
        "SSH-2.0-OpenSSH_9.6\r\n",
        "HTTP/1.1 200",
        "HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n",
    ] {
        let server = says(nonsense);
        let gate = Gate::start(server.address(), "");
        assert_eq!(gate.get("/", "").status, 502, "{nonsense:?}");
        let state = gate.wait_for("the place", |state| state["in_service"] == 0);
        assert_eq!(state["upstream"]["failures"]["broken"], 1, "{nonsense:?}");
    }
}

#[test]
fn a_response_cut_short_is_cut_short_for_the_client_too() {
    for response in [
        "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nonly this",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n9\r\nonly this\r\n",
    ] {
        let server = says(response);
        let gate = Gate::start(server.address(), "");
        let got = String::from_utf8(gate.connect().get("/").until_closed()).unwrap();
        assert!(got.starts_with("HTTP/1.1 200"), "{got}");
        assert!(got.contains("only this") && !got.ends_with("0\r\n\r\n"), "{got}");
        gate.wait_for("the place", |state| state["in_service"] == 0);
    }
}

#[test]
fn a_server_that_says_nothing_is_a_gateway_timeout() {
    let server = Held::start();
    let gate = Gate::waiting(server.address(), "200ms", "window = 1");
    let slow = gate.get("/", "");
    assert_eq!((slow.status, slow.text()), (504, "The server behind this gate did not answer in time.\n"));
    gate.wait_for("the place", |state| state["in_service"] == 0);
}

#[test]
fn a_body_that_stops_is_given_up() {
    let server = Hostile::start(|mut stream, _| {
        while read_head(stream).is_some() {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nonly this");
        }
    });
    let gate = Gate::waiting(server.address(), "200ms", "");
    let got = gate.connect().get("/").until_closed();
    assert!(got.ends_with(b"only this"));
    gate.wait_for("the place", |state| state["in_service"] == 0);
}

/// A server that answers the first request of a connection and closes at the second.
fn fickle(requests: &Arc<AtomicUsize>) -> Hostile {
    let requests = Arc::clone(requests);
    Hostile::start(move |stream, _| {
        for turn in 0.. {
            let Some(head) = read_head(stream) else { break };
            requests.fetch_add(1, Ordering::SeqCst);
            if turn == 1 || answer(stream, "", &head).is_none() {
                break;
            }
        }
        let _ = stream.shutdown(Shutdown::Both);
    })
}

#[test]
fn a_connection_that_goes_stale_costs_nobody_a_request() {
    let requests = Arc::default();
    let server = fickle(&requests);
    let gate = Gate::waiting(server.address(), "200ms", "");
    let mut client = gate.connect();
    for _ in 0..4 {
        assert_eq!(client.get("/").response().status, 200);
    }
    // What may have been carried out is not repeated.
    let gate = Gate::waiting(server.address(), "200ms", "");
    let mut client = gate.connect();
    assert_eq!(client.get("/").response().status, 200);
    let before = requests.load(Ordering::SeqCst);
    assert_eq!(client.send("POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 0\r\n\r\n").response().status, 502);
    assert_eq!(requests.load(Ordering::SeqCst), before + 1);
}

#[test]
fn connections_are_kept_for_a_while_and_then_closed() {
    let server = crate::common::echo("");
    let gate = Gate::start(server.address(), "");
    let mut client = gate.connect();
    for _ in 0..10 {
        assert_eq!(client.get("/").response().status, 200);
    }
    assert_eq!(gate.state()["connections"]["upstream"], 1);
    gate.wait_for("the connection to be closed", |state| state["connections"]["upstream"] == 0);
}

#[test]
fn requests_with_a_body_and_without_take_turns_on_a_connection() {
    let server = Hostile::start(|mut stream, connection| {
        while let Some(head) = read_head(stream) {
            let mut body = [0; 5];
            if head.starts_with("POST") && stream.read_exact(&mut body).is_err() {
                break;
            }
            let said = format!("{connection} {}", body.escape_ascii());
            if answer(stream, "", &said).is_none() {
                break;
            }
        }
    });
    let gate = Gate::start(server.address(), "");
    let mut client = gate.connect();
    for _ in 0..3 {
        let nothing = client.get("/").response();
        assert!(nothing.text().ends_with(r" \x00\x00\x00\x00\x00"), "{}", nothing.text());
        let post = client.send("POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 5\r\n\r\nhello").response();
        let (connection, said) = post.text().split_once(' ').unwrap();
        assert_eq!(said, "hello");
        assert!(nothing.text().starts_with(connection));
    }
    assert_eq!(gate.state()["connections"]["upstream"], 1);
}

#[test]
fn heads_of_64_kilobytes_are_passed_on_and_endless_ones_are_not() {
    let server = Hostile::start(|mut stream, _| {
        while let Some(head) = read_head(stream) {
            let lines = if head.starts_with("GET /large") { 64 } else { 1024 };
            let line = format!("x-filler: {}\r\n", "x".repeat(1010));
            let mut response = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n".to_owned();
            response.push_str(&line.repeat(lines));
            response.push_str("\r\nhi");
            if stream.write_all(response.as_bytes()).is_err() {
                return;
            }
        }
    });
    let gate = Gate::start(server.address(), "");
    let large = gate.get("/large", "");
    assert_eq!((large.status, large.text()), (200, "hi"));
    assert!(large.head.len() > 64 * 1024);
    assert_eq!(gate.get("/endless", "").status, 502);
    gate.wait_for("the place", |state| state["in_service"] == 0);
}

#[test]
fn lengths_that_contradict_each_other_are_a_bad_gateway_or_an_end() {
    for (response, cut) in [
        ("HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nabc", false),
        ("HTTP/1.1 200 OK\r\ncontent-length: 2, 3\r\n\r\nabc", false),
        ("HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\nabc", false),
        ("HTTP/1.0 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n", false),
        ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nnot a chunk\r\n", true),
        ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n-1\r\na\r\n0\r\n\r\n", true),
    ] {
        let server = says(response);
        let gate = Gate::start(server.address(), "");
        let request = "GET / HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n";
        let got = String::from_utf8(gate.connect().send(request).until_closed()).unwrap();
        match cut {
            false => assert!(got.starts_with("HTTP/1.1 502"), "{response:?}: {got:?}"),
            // Without an end, or without a word.
            true => assert!(got.is_empty() || got.ends_with("\r\n\r\n"), "{response:?}: {got:?}"),
        }
    }
}

#[test]
fn a_body_framed_in_two_ways_is_a_bad_gateway_whoever_reads_it() {
    for response in [
        "HTTP/1.1 200 OK\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    ] {
        let server = says(response);
        let gate = Gate::start(server.address(), "");
        for request in ["GET / HTTP/1.1\r\n\r\n", "POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\nhi"] {
            let request = request.replacen("\r\n", "\r\nHost: t\r\nConnection: close\r\n", 1);
            let got = String::from_utf8(gate.connect().send(&request).until_closed()).unwrap();
            assert!(got.starts_with("HTTP/1.1 502"), "{request:?}: {got:?}");
        }
    }
}

#[test]
fn early_hints_do_not_take_the_place_of_the_answer() {
    let server = says(
        "HTTP/1.1 103 Early Hints\r\nlink: </a.css>\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi",
    );
    let gate = Gate::start(server.address(), "");
    let mut client = gate.connect();
    let first = client.get("/").head();
    assert!(first.starts_with("HTTP/1.1 103") && first.contains("link: </a.css>"), "{first}");
    assert_eq!(client.head(), "HTTP/1.1 103 Early Hints");
    assert_eq!(client.response().text(), "hi");
}

#[test]
fn trailers_are_passed_on_to_those_who_want_them() {
    let server = says(
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ntrailer: x-sum, set-cookie\r\n\r\n2\r\nhi\r\n0\r\nx-sum: 42\r\nset-cookie: a=b\r\n\r\n",
    );
    let gate = Gate::start(server.address(), "");
    let ask = |te: &str| {
        let request = format!("GET / HTTP/1.1\r\nHost: t\r\n{te}\r\n\r\n");
        String::from_utf8(gate.connect().send(request).until_closed()).unwrap()
    };
    let with = ask("TE: trailers\r\nConnection: te, close");
    assert!(with.ends_with("2\r\nhi\r\n0\r\nx-sum: 42\r\n\r\n"), "{with}");
    let without = ask("Connection: close");
    assert!(without.ends_with("2\r\nhi\r\n0\r\n\r\n"), "{without}");
}

#[test]
fn a_server_that_answers_before_the_body_has_come_is_heard() {
    let server = Hostile::start(|mut stream, _| {
        if read_head(stream).is_some() {
            let _ = stream
                .write_all(b"HTTP/1.1 413 Too Large\r\ncontent-length: 2\r\nconnection: close\r\n\r\nno");
            // Reads on, as RFC 9112 section 9.6 says, so that the answer is not lost.
            let _ = std::io::copy(&mut stream, &mut std::io::sink());
        }
    });
    let gate = Gate::start(server.address(), "");
    let mut client = gate.connect();
    client.send("POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 10000000\r\n\r\n").send("x".repeat(40_000));
    assert_eq!(client.response().status, 413);
}

#[test]
fn an_answer_before_the_body_has_come_holds_up_nobody_else() {
    // Keeps its connections, and reads on when the next request is due.
    let server =
        Hostile::start(
            |stream, _| while read_head(stream).is_some() && answer(stream, "", "early").is_some() {},
        );
    let gate = Gate::start(server.address(), "[client]\nheader-timeout = '10m'\nidle-timeout = '10m'\n");
    let mut slow = gate.connect();
    slow.send("POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 10000000\r\n\r\n").send("x".repeat(40_000));
    assert_eq!(slow.response().text(), "early");
    // The rest of the first request would come before it on the same connection.
    assert_eq!(gate.get("/", "").text(), "early");
}

#[test]
fn a_server_that_is_killed_takes_only_its_own_requests_with_it() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let script = format!(
        "import http.server, time\n\
         class Handler(http.server.BaseHTTPRequestHandler):\n\
         \x20   protocol_version = 'HTTP/1.1'\n\
         \x20   def do_GET(self):\n\
         \x20       if self.path == '/slow': time.sleep(60)\n\
         \x20       self.send_response(200); self.send_header('content-length', '5'); self.end_headers()\n\
         \x20       self.wfile.write(b'child')\n\
         \x20   def log_message(self, *args): pass\n\
         server = http.server.ThreadingHTTPServer(('127.0.0.1', {}), Handler)\n\
         print('ready', flush=True)\n\
         server.serve_forever()\n",
        address.port()
    );
    let mut child = testkit::Process::start(std::process::Command::new("python3").args(["-c", &script]));
    child.wait_for_line("ready");
    let other = Hostile::start(
        |stream, _| while read_head(stream).is_some() && answer(stream, "", "other").is_some() {},
    );
    let gate = Gate::before(&format!("server = ['{address}', '{}']", other.address()), "window = 8");
    let waiting: Vec<_> = (0..4)
        .map(|_| {
            let mut client = gate.connect();
            client.get("/slow");
            client
        })
        .collect();
    gate.wait_for("a request at the server to be killed", |state| {
        let servers = state["upstream"]["servers"].as_array().unwrap();
        let doomed = servers.iter().find(|server| server["address"] == address.to_string()).unwrap();
        doomed["outstanding"] != 0
    });
    // SIGKILL.
    drop(child);
    // GET may be repeated, so the other server answers those as well.
    for mut client in waiting {
        assert_eq!(client.response().text(), "other");
    }
    let mut client = gate.connect();
    for _ in 0..20 {
        assert_eq!(client.get("/").response().text(), "other");
    }
}
