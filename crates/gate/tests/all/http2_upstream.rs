//! Servers that speak HTTP/2.
#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

use std::io::{Read as _, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::common::Gate;
use crate::h2_server::{After, Asked, H2Server, answer, body_of};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use testkit::{Hostile, Raw};
use tokio::sync::Semaphore;

fn before(server: &H2Server, more: &str, keys: &str) -> Gate {
    Gate::before(&format!("address = '{}', http = 2, timeout = '20s'{more}", server.address()), keys)
}

/// Answers with what it was asked, and where.
fn describing(streams: u32) -> H2Server {
    H2Server::start(streams, |mut asked| {
        let answering = async move {
            let (body, trailers) = body_of(&mut asked).await;
            let (request, connection) = (&asked.request, asked.connection);
            let text = format!(
                "{} {} {:?} {:?} {} {:?} on {connection}",
                request.method(),
                request.uri(),
                request.headers().get("host"),
                request.headers().get("te"),
                body.len(),
                trailers.and_then(|trailers| trailers.get("x-sum").cloned()),
            );
            answer(asked, text);
        };
        (answering, After::GoOn)
    })
}

/// A frame (RFC 9113 section 4.1).
fn frame(kind: u8, flags: u8, stream: u8, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags, 0, 0, 0, stream], payload].concat()
}

/// A server that refuses each upload at its first bytes and goes, with all else unread.
fn going() -> Hostile {
    const SETTINGS: u8 = 4;
    const END: u8 = 1;
    Hostile::start(|mut stream, _| {
        let mut preface = [0; 24];
        if stream.read_exact(&mut preface).is_err() {
            return;
        }
        let _ = stream.write_all(&[frame(SETTINGS, 0, 0, &[]), frame(SETTINGS, 1, 0, &[])].concat());
        loop {
            let mut head = [0; 9];
            if stream.read_exact(&mut head).is_err() {
                return;
            }
            let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
            let mut payload = vec![0; length as usize];
            if stream.read_exact(&mut payload).is_err() {
                return;
            }
            let (kind, stream_id) = (head[3], head[8]);
            if kind == 0 {
                let _ = stream.write_all(
                    &[
                        // The name of the status is number 8 of the static table (RFC 7541 appendix A).
                        frame(1, 4, stream_id, &[0x08, 3, b'4', b'1', b'3']),
                        frame(0, END, stream_id, b"too large"),
                        frame(3, 0, stream_id, &[0; 4]),
                        frame(7, 0, 0, &[0, 0, 0, stream_id, 0, 0, 0, 0]),
                    ]
                    .concat(),
                );
                return;
            }
        }
    })
}

#[test]
fn a_refusal_reaches_its_client_although_the_server_goes_at_once() {
    let server = going();
    let gate = Gate::before(&format!("address = '{}', http = 2, timeout = '20s'", server.address()), "");
    for length in [100_000, 3_000_000] {
        for _ in 0..20 {
            let mut client = gate.connect();
            client.send(format!(
                "POST / HTTP/1.1\r\nHost: t\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
            ));
            client.send(vec![b'x'; length]);
            let answer = String::from_utf8(client.until_closed()).unwrap();
            assert!(
                answer.starts_with("HTTP/1.1 413 ") && answer.contains("too large"),
                "{length}: {answer}"
            );
        }
    }
}

#[test]
fn requests_are_translated_and_share_a_connection() {
    let server = describing(100);
    let gate = before(&server, "", "");
    let mut client = gate.connect();
    assert_eq!(
        client.get("/a?b").response().text(),
        format!("GET http://localhost/a?b None None 0 None on 0")
    );
    let post =
        "POST /form HTTP/1.1\r\nHost: shop:81\r\nContent-Length: 5\r\nConnection: x\r\nX: 1\r\n\r\nhello";
    assert_eq!(client.send(post).response().text(), "POST http://shop:81/form None None 5 None on 0");
    let trailers = "POST /t HTTP/1.1\r\nHost: a\r\nTE: trailers\r\nConnection: te\r\nTransfer-Encoding: chunked\r\n\
        Trailer: x-sum\r\n\r\n5\r\nhello\r\n0\r\nx-sum: 42\r\n\r\n";
    let seen = client.send(trailers).response();
    assert_eq!(seen.text(), "POST http://a/t None Some(\"trailers\") 5 Some(\"42\") on 0");
    assert_eq!(server.connections(), 1);
}

#[test]
fn a_body_is_sent_as_fast_as_the_server_takes_it_and_comes_whole() {
    let server = describing(100);
    let gate = before(&server, "", "");
    let mut client = gate.connect();
    client
        .send("POST /big HTTP/1.1\r\nHost: a\r\nContent-Length: 3000000\r\n\r\n")
        .send(vec![b'x'; 3_000_000]);
    assert_eq!(client.response().text(), "POST http://a/big None None 3000000 None on 0");
}

/// Answers when it is told to; `seen` counts requests.
fn held(streams: u32, seen: &Arc<AtomicUsize>, allowed: &Arc<Semaphore>) -> H2Server {
    let (seen, allowed) = (Arc::clone(seen), Arc::clone(allowed));
    H2Server::start(streams, move |asked| {
        seen.fetch_add(1, Ordering::SeqCst);
        let allowed = Arc::clone(&allowed);
        let answering = async move {
            allowed.acquire().await.unwrap().forget();
            let path = asked.request.uri().path().to_owned();
            answer(asked, path);
        };
        (answering, After::GoOn)
    })
}

#[test]
fn a_connection_gets_no_more_requests_than_the_server_allows() {
    let (seen, allowed) = (Arc::default(), Arc::new(Semaphore::new(0)));
    let server = held(3, &seen, &allowed);
    let gate = before(&server, ", idle-timeout = '20s'", "window = 10");
    // The first lets the gate know how many there may be.
    allowed.add_permits(1);
    assert_eq!(gate.get("/first", "").text(), "/first");
    let mut clients: Vec<Raw> = (0..7)
        .map(|number| {
            let mut client = gate.connect();
            client.get(&format!("/{number}"));
            client
        })
        .collect();
    testkit::poll_until(testkit::PATIENCE, "the requests", || {
        (seen.load(Ordering::SeqCst) == 8).then_some(())
    });
    assert_eq!(server.connections(), 3);
    allowed.add_permits(7);
    for (number, client) in clients.iter_mut().enumerate() {
        assert_eq!(client.response().text(), format!("/{number}"));
    }
}

#[test]
fn a_server_that_leaves_loses_no_request() {
    let server = H2Server::start(100, |asked| {
        let after = if asked.number % 5 == 4 { After::Leave } else { After::GoOn };
        let answering = async move {
            tokio::task::yield_now().await;
            let path = asked.request.uri().path().to_owned();
            answer(asked, path);
        };
        (answering, after)
    });
    let gate = before(&server, "", "window = 20");
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let gate = &gate;
            scope.spawn(move || {
                let mut client = gate.connect();
                for number in 0..50 {
                    let path = format!("/{thread}/{number}");
                    // With a body and not to be repeated, unless the server has not looked at it.
                    let post = format!("POST {path} HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi");
                    let response = client.send(post).response();
                    assert_eq!((response.status, response.text()), (200, path.as_str()));
                }
            });
        }
    });
    assert!(server.connections() >= 10, "{}", server.connections());
}

#[test]
fn what_the_server_refuses_to_look_at_is_sent_again() {
    let server = H2Server::start(100, |mut asked| {
        if asked.number == 1 {
            asked.respond.send_reset(h2::Reason::REFUSED_STREAM);
            return (futures(None), After::GoOn);
        }
        (futures(Some(asked)), After::GoOn)
    });
    let gate = before(&server, ", retry = { share = 0, least = 0 }", "");
    let mut client = gate.connect();
    for _ in 0..3 {
        let post = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi";
        assert_eq!(client.send(post).response().status, 200);
    }
}

#[test]
fn a_connection_of_which_the_server_has_enough_gets_no_further_requests() {
    let allowed = Arc::new(Semaphore::new(0));
    let server = H2Server::start(100, {
        let allowed = Arc::clone(&allowed);
        move |mut asked| {
            let allowed = Arc::clone(&allowed);
            let answering = async move {
                let is_first = asked.connection == 0 && asked.number == 0;
                if is_first {
                    allowed.acquire().await.unwrap().forget();
                } else if asked.connection == 0 {
                    asked.respond.send_reset(h2::Reason::ENHANCE_YOUR_CALM);
                    return;
                }
                let connection = asked.connection;
                answer(asked, format!("on {connection}"));
            };
            (answering, After::GoOn)
        }
    });
    let gate = before(&server, "", "");
    let mut large = gate.connect();
    large.get("/large");
    gate.wait_for("the server to have it", |state| state["in_service"] == 1);
    // More than may be sent again within a second.
    for _ in 0..10 {
        assert_eq!(gate.get("/", "").text(), "on 1");
    }
    allowed.add_permits(1);
    assert_eq!(large.response().text(), "on 0");
    assert_eq!(gate.state()["upstream"]["retries"], 1);
}

async fn futures(asked: Option<Asked>) {
    if let Some(asked) = asked {
        answer(asked, "fine".to_owned());
    }
}

#[test]
fn a_request_that_is_reset_is_a_bad_gateway_and_the_others_go_on() {
    let allowed = Arc::new(Semaphore::new(0));
    let server = H2Server::start(100, {
        let allowed = Arc::clone(&allowed);
        move |mut asked| {
            let allowed = Arc::clone(&allowed);
            let answering = async move {
                if asked.request.uri().path() == "/bad" {
                    asked.respond.send_reset(h2::Reason::INTERNAL_ERROR);
                } else {
                    allowed.acquire().await.unwrap().forget();
                    answer(asked, "good".to_owned());
                }
            };
            (answering, After::GoOn)
        }
    });
    let gate = before(&server, "", "window = 8");
    let mut good = gate.connect();
    good.get("/good");
    assert_eq!(gate.get("/bad", "").status, 502);
    allowed.add_permits(1);
    assert_eq!(good.response().text(), "good");
}

#[test]
fn a_connection_that_is_cut_is_a_bad_gateway_or_another_try() {
    let server = H2Server::start(100, |asked| {
        let cut = asked.number == 1;
        (futures((!cut).then_some(asked)), if cut { After::Cut } else { After::GoOn })
    });
    let gate = before(&server, "", "");
    let mut client = gate.connect();
    for _ in 0..4 {
        assert_eq!(client.get("/").response().status, 200);
    }
    let post = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n";
    let statuses: Vec<u16> = (0..4).map(|_| client.send(post).response().status).collect();
    assert!(statuses.contains(&502) && statuses.contains(&200), "{statuses:?}");
}

#[test]
fn trailers_and_a_slow_client_do_not_hold_up_others() {
    let server = H2Server::start(100, |mut asked| {
        let answering = async move {
            let mut response = Response::new(());
            response.headers_mut().insert("trailer", HeaderValue::from_static("x-sum"));
            let mut stream = asked.respond.send_response(response, false).unwrap();
            let length = if asked.request.uri().path() == "/big" { 50_000_000 } else { 3 };
            stream.send_data(Bytes::from(vec![b'x'; length]), false).unwrap();
            let mut trailers = HeaderMap::new();
            trailers.insert("x-sum", HeaderValue::from_static("42"));
            trailers.insert("set-cookie", HeaderValue::from_static("a=b"));
            stream.send_trailers(trailers).unwrap();
        };
        (answering, After::GoOn)
    });
    let gate = before(&server, "", "window = 32");
    let slow: Vec<Raw> = (0..20)
        .map(|_| {
            let mut client = gate.connect();
            client.get("/big");
            client
        })
        .collect();
    let quick = "GET / HTTP/1.1\r\nHost: a\r\nTE: trailers\r\nConnection: te, close\r\n\r\n";
    for _ in 0..20 {
        let got = String::from_utf8(gate.connect().send(quick).until_closed()).unwrap();
        assert!(got.contains("\r\n3\r\nxxx\r\n0\r\nx-sum: 42\r\n\r\n") && !got.contains("a=b"), "{got}");
    }
    drop(slow);
}

#[test]
fn a_server_that_says_nothing_is_a_timeout_and_its_connection_is_not_used_again() {
    let server = H2Server::start(100, |asked| {
        let silent = asked.connection == 0;
        let answering = async move {
            match silent {
                true => std::future::pending().await,
                false => answer(asked, "fine".to_owned()),
            }
        };
        (answering, After::GoOn)
    });
    let gate = Gate::before(&format!("address = '{}', http = 2, timeout = '200ms'", server.address()), "");
    assert_eq!(gate.get("/", "").status, 504);
    assert_eq!(gate.get("/", "").status, 200);
    assert_eq!(server.connections(), 2);
}

/// Says what it is asked on, but reads nothing more of a connection with a request for `/still`.
fn stands_still() -> H2Server {
    H2Server::start(100, |asked| {
        let still = asked.request.uri().path() == "/still";
        let answering = async move {
            match still {
                true => std::future::pending().await,
                false => {
                    let text = format!("on {}", asked.connection);
                    answer(asked, text);
                }
            }
        };
        (answering, if still { After::Still } else { After::GoOn })
    })
}

#[test]
fn a_body_on_its_way_holds_up_no_other_request() {
    let server = stands_still();
    let gate = before(&server, "", "window = 32");
    for kind in ["Content-Length: 9000000", "Transfer-Encoding: chunked"] {
        gate.get("/", "");
        let before = server.connections();
        let mut uploading = gate.connect();
        uploading.send(format!("POST /still HTTP/1.1\r\nHost: a\r\n{kind}\r\n\r\n"));
        uploading.send([b"8000\r\n".to_vec(), vec![b'x'; 0x8000], b"\r\n".to_vec()].concat());
        // It may take the connection that is there, which no other request uses then.
        testkit::poll_until(testkit::PATIENCE, "another connection", || {
            assert_eq!(gate.get("/", "").status, 200, "{kind}");
            (server.connections() > before).then_some(())
        });
        drop(uploading);
        // A client that has left an upload has left the connection as it is: no other request gets it.
        let post = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi";
        for _ in 0..10 {
            assert_eq!(gate.get("/", "").status, 200, "{kind}");
            assert_eq!(gate.connect().send(post).response().status, 200, "{kind}");
        }
        // And what is at hand as a whole needs none of its own.
        assert_eq!(server.connections(), before + 1, "{kind}");
    }
}

#[test]
fn a_connection_on_which_nothing_comes_gets_no_further_requests() {
    let server = stands_still();
    let gate = before(&server, "", "window = 32");
    assert_eq!(gate.get("/", "").text(), "on 0");
    let mut waiting = gate.connect();
    waiting.get("/still");
    // Those that are sent until it is noticed wait too.
    let mut others = Vec::new();
    let answered = testkit::poll_until(testkit::PATIENCE, "another connection", || {
        let mut client = gate.connect();
        client.get("/");
        client.stream().set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        let answered = client.stream().peek(&mut [0]).is_ok();
        let answer = answered.then(|| client.response().text().to_owned());
        others.push(client);
        answer
    });
    assert_eq!(answered, "on 1");
    for _ in 0..5 {
        assert_eq!(gate.get("/", "").text(), "on 1");
    }
}

#[test]
fn a_server_that_speaks_http_1_only_is_a_bad_gateway() {
    let server = crate::common::echo("");
    let gate = Gate::before(&format!("address = '{}', http = 2, timeout = '2s'", server.address()), "");
    assert_eq!(gate.get("/", "").status, StatusCode::BAD_GATEWAY.as_u16());
}
