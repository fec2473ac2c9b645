//! The last words to a client whose request cannot be read.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Poll, ready};

use http1::request::Breach;
use hyper::rt::Write as _;
use policy::connections::Order;

use crate::clients::client::Client;
use crate::downstream::io::ClientIo;

/// To a client whose request did not come in time.
pub(crate) const TIMEOUT: &[u8] =
    b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";

/// To a client whose request can be understood in more than one way, or in none.
pub(crate) fn refusal(breach: Breach) -> Vec<u8> {
    let (status, why) = (breach.status(), breach.why());
    let reason = status.canonical_reason().unwrap_or_default();
    let (status, length) = (status.as_u16(), why.len());
    let text = format!(
        "HTTP/1.1 {status} {reason}\r\ncontent-type: text/plain; charset=utf-8\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{why}"
    );
    text.into_bytes()
}

/// Says it, and closes the connection so that the client can read it.
pub(crate) async fn farewell(mut io: ClientIo, client: &Client, words: &[u8]) {
    client.interim.leave_out();
    let mut said = 0;
    poll_fn(|cx| {
        if client.poll_order(cx) == Order::Close {
            return Poll::Ready(());
        }
        while said < words.len() {
            match ready!(Pin::new(&mut io).poll_write(cx, &words[said..])) {
                Ok(bytes @ 1..) => said += bytes,
                _ => return Poll::Ready(()),
            }
        }
        if ready!(Pin::new(&mut io).poll_flush(cx)).is_err() {
            return Poll::Ready(());
        }
        Pin::new(&mut io).poll_shutdown(cx).map(drop)
    })
    .await;
}
