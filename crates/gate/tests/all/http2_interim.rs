//! What comes before a response, to clients of HTTP/2.
#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

use std::future::poll_fn;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use crate::common::tls::{framed, run};
use crate::common::{Gate, read_head};
use crate::h2_server::{After, H2Server};
use h2::Reason;
use h2::client::{ResponseFuture, SendRequest};
use http::{Request, Response, StatusCode};
use hyper::body::Bytes;
use testkit::Hostile;
use tokio::sync::Semaphore;

/// Larger than what is sent here.
const WINDOW: u32 = 100_000;

/// The next interim response, before anything else has come.
fn interim(response: &mut ResponseFuture) -> Response<()> {
    run(poll_fn(|cx| response.poll_informational(cx))).unwrap().unwrap()
}

#[test]
fn interim_responses_come_before_the_response() {
    let (tell, told) = mpsc::channel::<()>();
    let told = Mutex::new(told);
    let server = Hostile::start(move |mut stream: &TcpStream, _| {
        while read_head(stream).is_some() {
            stream.write_all(b"HTTP/1.1 102 Processing\r\n\r\n").unwrap();
            stream
                .write_all(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nConnection: x\r\nX: 1\r\n\r\n")
                .unwrap();
            told.lock().unwrap().recv().unwrap();
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").unwrap();
        }
    });
    let gate = Gate::start(server.address(), "");
    let mut client = framed(gate.address, WINDOW);
    for _ in 0..2 {
        let request = Request::get("http://test/").body(()).unwrap();
        let mut response = client.send_request(request, true).unwrap().0;
        assert_eq!(interim(&mut response).status(), StatusCode::PROCESSING);
        // It is here while the response is not.
        let hints = interim(&mut response);
        assert_eq!(
            (hints.status(), &hints.headers()["link"]),
            (StatusCode::EARLY_HINTS, &"</a>".parse().unwrap())
        );
        assert_eq!(hints.headers().len(), 1, "what is for this hop stays here");
        tell.send(()).unwrap();
        let mut body = run(response).unwrap().into_body();
        assert_eq!(run(body.data()).unwrap().unwrap(), "ok");
    }
}

/// Says 103 to each request, and waits before the response.
fn hinting(tell: &Arc<Semaphore>) -> H2Server {
    let tell = Arc::clone(tell);
    H2Server::start(100, move |mut asked| {
        let tell = Arc::clone(&tell);
        let answering = async move {
            let hints = Response::builder().status(StatusCode::EARLY_HINTS).header("link", "</a>");
            asked.respond.send_informational(hints.body(()).unwrap()).unwrap();
            tell.acquire().await.unwrap().forget();
            let response = Response::builder().header("content-length", 2).body(()).unwrap();
            let mut body = asked.respond.send_response(response, false).unwrap();
            body.send_data(Bytes::from_static(b"ok"), true).unwrap();
        };
        (answering, After::GoOn)
    })
}

#[test]
fn those_of_a_server_of_http_2_pass_to_clients_of_both_versions() {
    let tell = Arc::new(Semaphore::new(0));
    let server = hinting(&tell);
    let gate = Gate::before(&format!("address = '{}', http = 2", server.address()), "");
    let mut client = framed(gate.address, WINDOW);
    let mut response = client.send_request(Request::get("http://test/").body(()).unwrap(), true).unwrap().0;
    let hints = interim(&mut response);
    assert_eq!(
        (hints.status(), &hints.headers()["link"]),
        (StatusCode::EARLY_HINTS, &"</a>".parse().unwrap())
    );
    tell.add_permits(1);
    assert_eq!(run(response).unwrap().status(), StatusCode::OK);
    let mut old = gate.connect();
    old.get("/");
    assert!(old.head().starts_with("HTTP/1.1 103 Early Hints\r\nlink: </a>"));
    tell.add_permits(1);
    assert_eq!(old.response().text(), "ok");
}

#[test]
fn a_response_that_its_server_breaks_off_does_not_look_complete() {
    for (reason, passed) in [
        (Reason::CANCEL, Reason::CANCEL),
        (Reason::ENHANCE_YOUR_CALM, Reason::ENHANCE_YOUR_CALM),
        // Who says that nothing was wrong has said all, or so its reader thinks.
        (Reason::NO_ERROR, Reason::INTERNAL_ERROR),
    ] {
        let server = H2Server::start(100, move |mut asked| {
            let answering = async move {
                let mut body = asked.respond.send_response(Response::new(()), false).unwrap();
                body.send_data(Bytes::from_static(b"half"), false).unwrap();
                // It goes out first: a reset takes with it what has not.
                tokio::time::sleep(Duration::from_millis(50)).await;
                body.send_reset(reason);
            };
            (answering, After::GoOn)
        });
        let gate = Gate::before(&format!("address = '{}', http = 2", server.address()), "");
        let mut client = framed(gate.address, WINDOW);
        let response = client.send_request(Request::get("http://test/").body(()).unwrap(), true).unwrap().0;
        let mut body = run(response).unwrap().into_body();
        assert_eq!(run(body.data()).unwrap().unwrap(), "half");
        // The reason passes, too.
        assert_eq!(run(body.data()).unwrap().unwrap_err().reason(), Some(passed));
        let old = gate.connect().get("/").until_closed();
        assert!(!old.ends_with(b"0\r\n\r\n"), "{}", old.escape_ascii());
    }
}

#[test]
fn an_answer_without_a_body_does_not_end_the_upload() {
    let (tell, told) = mpsc::channel();
    let tell = Mutex::new(tell);
    let server = H2Server::start(100, move |mut asked| {
        let tell = tell.lock().unwrap().clone();
        let answering = async move {
            let no_content = Response::builder().status(StatusCode::NO_CONTENT).body(()).unwrap();
            asked.respond.send_response(no_content, true).unwrap();
            let mut length = 0;
            let body = asked.request.body_mut();
            while let Some(Ok(piece)) = body.data().await {
                length += piece.len();
                let _ = body.flow_control().release_capacity(piece.len());
            }
            let _ = tell.send(length);
        };
        (answering, After::GoOn)
    });
    let gate = Gate::before(&format!("address = '{}', http = 2", server.address()), "");
    let mut client = framed(gate.address, WINDOW);
    let request = Request::put("http://test/").body(()).unwrap();
    let (response, mut upload) = client.send_request(request, false).unwrap();
    upload.send_data(Bytes::from_static(b"half"), false).unwrap();
    assert_eq!(run(response).unwrap().status(), StatusCode::NO_CONTENT);
    // Not taken back, nor complete.
    assert!(told.try_recv().is_err());
    upload.send_data(Bytes::from_static(b"rest"), true).unwrap();
    assert_eq!(told.recv_timeout(testkit::PATIENCE), Ok(8));
}

/// Asks whether to send a body of five bytes.
fn ask(client: &mut SendRequest<Bytes>, path: &str) -> (ResponseFuture, h2::SendStream<Bytes>) {
    let request = Request::put(format!("http://test{path}")).header("expect", "100-continue");
    client.send_request(request.body(()).unwrap(), false).unwrap()
}

#[test]
fn who_asks_whether_to_send_a_body_is_told_what_the_server_says() {
    let server = Hostile::start(|mut stream: &TcpStream, _| {
        while let Some(head) = read_head(stream) {
            let asked = head.to_lowercase().contains("expect: 100-continue");
            if head.contains("/no") {
                let _ = stream.write_all(b"HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n");
                return;
            }
            if head.contains("/yes") {
                stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").unwrap();
            }
            // In one chunk, and the last.
            let mut body = [0; 15];
            stream.read_exact(&mut body).unwrap();
            let answer = format!("{asked} {}", String::from_utf8_lossy(&body[3..8]));
            write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{answer}", answer.len()).unwrap();
        }
    });
    let gate = Gate::start(server.address(), "");
    let mut client = framed(gate.address, WINDOW);
    let (refusal, _upload) = ask(&mut client, "/no");
    assert_eq!(run(refusal).unwrap().status(), StatusCode::PAYLOAD_TOO_LARGE);
    // One that says nothing is taken to want it after a moment.
    for path in ["/yes", "/silent"] {
        let (mut response, mut upload) = ask(&mut client, path);
        assert_eq!(interim(&mut response).status(), StatusCode::CONTINUE);
        upload.send_data(Bytes::from_static(b"hello"), true).unwrap();
        let mut body = run(response).unwrap().into_body();
        assert_eq!(run(body.data()).unwrap().unwrap(), "true hello");
    }
}

#[test]
fn who_asks_waits_for_a_place_first_and_others_do_not_wait_for_its_body() {
    let server = Hostile::start(|mut stream: &TcpStream, _| {
        while let Some(head) = read_head(stream) {
            if head.contains("/slow") {
                stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").unwrap();
                let _ = stream.read_exact(&mut [0; 15]);
            }
            let _ = stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n");
        }
    });
    let gate = Gate::start(server.address(), "window = 1\n");
    let mut client = framed(gate.address, WINDOW);
    let (mut response, mut upload) = ask(&mut client, "/slow");
    assert_eq!(interim(&mut response).status(), StatusCode::CONTINUE);
    let other = Request::get("http://test/").body(()).unwrap();
    let other = client.send_request(other, true).unwrap().0;
    assert_eq!(run(other).unwrap().status(), StatusCode::NO_CONTENT);
    upload.send_data(Bytes::from_static(b"hello"), true).unwrap();
    assert_eq!(run(response).unwrap().status(), StatusCode::NO_CONTENT);
}
