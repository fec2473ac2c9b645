//! What clients of HTTP/2 see when one gate takes over from another.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use crate::common::tls::{get, h2, run, start, text};
use crate::common::{Gate, Held};
use hyper::StatusCode;
use testkit::{PATIENCE, poll_until};
use tokio::net::TcpStream;

#[test]
fn streams_are_answered_and_the_connection_is_said_goodbye_to() {
    let server = Held::start();
    let directory = tempfile::tempdir().unwrap();
    let control = directory.path().join("gate.sock");
    // Neither timeout may do what is to be seen here.
    let more = format!(
        "[client]\ndrain-timeout = '60s'\nidle-timeout = '60s'\n[operation]\ncontrol = '{}'\n",
        control.display()
    );
    let first = Gate::start(server.address(), &more);
    let connect = || run(async { h2(TcpStream::connect(first.address).await.unwrap()).await });
    let mut client = connect();
    let answer = start(client.send_request(get("http://test/slow")));
    assert_eq!(server.next(), "/slow");

    let second = Gate::start(server.address(), &more);
    assert_eq!((second.address, second.admin), (first.address, first.admin), "the same sockets");
    server.release();
    let response = run(answer).unwrap().unwrap();
    assert_eq!((response.status(), run(text(response)).as_str()), (StatusCode::OK, "/slow"));
    // Told to go, the client asks nothing more of this connection.
    poll_until(PATIENCE, "the client to be told", || client.is_closed().then_some(()));

    let mut client = connect();
    let answer = start(client.send_request(get("http://test/next")));
    assert_eq!(server.next(), "/next");
    assert_eq!(second.state()["in_service"], 1, "the second gate has it");
    server.release();
    assert_eq!(run(answer).unwrap().unwrap().status(), StatusCode::OK);
}
