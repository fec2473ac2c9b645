//! Connections that have asked for nothing for a while, and ask again.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::time::Duration;

use crate::common::tls::{Identity, client, connect, run};
use crate::common::{Gate, echo, request};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

/// By then the gate holds nothing but the socket.
const LONG: Duration = Duration::from_secs(2);

#[test]
fn whoever_comes_back_is_served() {
    let server = echo("");
    let gate = Gate::start(server.address(), "");
    let [mut whole, mut halves, mut several, quiet] = [(); 4].map(|()| gate.connect());
    for client in [&mut whole, &mut halves, &mut several] {
        assert_eq!(client.get("/first").response().status, 200);
    }
    std::thread::sleep(LONG);
    assert!(whole.get("/again").response().text().contains("/again"));
    halves.send("GET /half HTTP/1.1\r\nHo");
    // By the time it has answered somebody else, the gate has seen it.
    assert_eq!(gate.get("/other", "").status, 200);
    assert!(halves.send("st: t\r\n\r\n").response().text().contains("/half"));
    several.send(request("/one", "") + &request("/two", ""));
    for path in ["/one", "/two"] {
        assert!(several.response().text().contains(path), "{path}");
    }
    std::thread::sleep(LONG);
    assert!(whole.get("/third").response().text().contains("/third"));
    let refused = String::from_utf8(halves.send("GET / HTTP/1.1\nHost: t\r\n\r\n").until_closed()).unwrap();
    assert!(refused.starts_with("HTTP/1.1 400 "), "{refused}");
    drop((whole, several, quiet));
    gate.wait_for("all to be gone", |state| state["connections"]["clients"] == 0);
}

#[test]
fn tls_goes_on_where_it_was() {
    let server = echo("");
    let identity = Identity::new(&["shop.example"]);
    let gate = Gate::start(server.address(), &identity.listener());
    run(async {
        let config = client(&identity.certificate, &["http/1.1"]);
        let mut stream = connect(gate.secure(), "shop.example", &config).await.unwrap();
        for path in ["/first", "/again"] {
            stream.write_all(request(path, "").as_bytes()).await.unwrap();
            let mut answer = Vec::new();
            while !answer.windows(path.len()).any(|bytes| bytes == path.as_bytes())
                || !answer.ends_with(b"\r\n\r\n")
            {
                assert!(stream.read_buf(&mut answer).await.unwrap() > 0, "{}", answer.escape_ascii());
            }
            tokio::time::sleep(LONG).await;
        }
    });
}
