//! Requests: what is let pass does not depend on how the bytes arrive, and hyper reads it as the
//! same requests.

use std::cell::RefCell;
use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use http::header::{CONNECTION, CONTENT_LENGTH, HOST, TRANSFER_ENCODING};
use http::request::Parts;
use http::{Response, StatusCode, Version};
use http_body_util::{BodyExt as _, Empty};
use http1::request::{Filter, Limits, Stop};
use hyper::body::{Bytes, Incoming};
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper::server::conn::http1 as server;
use hyper::service::service_fn;

/// What the filter made of some bytes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// What it let pass.
    pub(crate) passed: Vec<u8>,
    /// Requests whose head was well-formed.
    pub(crate) requests: u64,
    /// Why it let nothing more pass.
    pub(crate) stop: Option<Stop>,
}

/// Sends `bytes` through a filter, `piece` at a time, to a reader that takes `room` at a time.
/// Requests are answered as soon as they have passed.
pub(crate) fn through(bytes: &[u8], piece: usize, room: usize) -> Outcome {
    let mut filter = Filter::new(Limits::default());
    let (mut rest, mut passed) = (bytes, Vec::new());
    while filter.stop().is_none() {
        filter.answered(filter.requests());
        let ready = filter.ready().len().min(room);
        if ready > 0 {
            passed.extend_from_slice(&filter.ready()[..ready]);
            filter.passed(ready);
            continue;
        }
        if rest.is_empty() {
            break;
        }
        let (now, then) = rest.split_at(piece.min(room).min(rest.len()));
        let good = filter.take(now);
        passed.extend_from_slice(&now[..good]);
        rest = then;
    }
    Outcome { passed, requests: filter.requests(), stop: filter.stop() }
}

/// Tries the filter on `data`; the first two bytes say how it arrives.
///
/// # Panics
/// When it matters how the bytes arrive, or hyper reads what has passed in another way.
pub(crate) fn try_on(data: &[u8]) {
    let [piece, room, bytes @ ..] = data else { return };
    // A line is looked at when it has ended, if not before.
    let bytes = &[bytes, b"\n"].concat();
    let whole = through(bytes, usize::MAX, 16 * 1024);
    let split = through(bytes, usize::from(*piece) + 1, usize::from(*room) + 1);
    let kind = |outcome: &Outcome| outcome.stop.map(|stop| matches!(stop, Stop::Body(_)));
    // That a line is too long may be found before what else is wrong with it.
    assert_eq!(
        (&split.passed, split.requests, kind(&split)),
        (&whole.passed, whole.requests, kind(&whole)),
        "in pieces of {piece} to buffers of {room}"
    );
    // HTTP/2 is not looked at.
    if whole.requests > 0 {
        judge(&whole);
    }
}

fn judge(outcome: &Outcome) {
    let (seen, said) = hyper_reads(&outcome.passed);
    let context = outcome.passed.escape_ascii().to_string();
    let said = String::from_utf8_lossy(&said);
    assert_eq!(said.matches("HTTP/1.").count(), said.matches(" 404 ").count(), "{said} to {context}");
    // A client that says so gets one answer, and hyper reads no further.
    let last = seen
        .last()
        .is_some_and(|head| head.version == Version::HTTP_10 || head.headers.contains_key(CONNECTION));
    assert!(seen.len() as u64 == outcome.requests || last, "{} of {context}", seen.len());
    for head in &seen {
        let count = |name| head.headers.get_all(name).iter().count();
        let hosts = count(HOST);
        assert!(hosts == 1 || (hosts == 0 && head.version == Version::HTTP_10), "{context}");
        assert!(count(CONTENT_LENGTH) + count(TRANSFER_ENCODING) <= 1, "{context}");
    }
    if let Some(head) = seen.first().filter(|head| head.uri.authority().is_none()) {
        let line = format!("{} {} {:?}\r\n", head.method, head.uri, head.version);
        let passed = outcome.passed.strip_prefix(b"\r\n").unwrap_or(&outcome.passed);
        assert!(passed.starts_with(line.as_bytes()), "{line} of {context}");
    }
}

/// The other side of hyper, in memory.
struct Memory {
    rest: Vec<u8>,
    at: usize,
    said: Rc<RefCell<Vec<u8>>>,
}

impl Read for Memory {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        mut to: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let rest = &self.rest[self.at..];
        let now = rest.len().min(to.remaining());
        to.put_slice(&rest[..now]);
        self.at += now;
        Poll::Ready(Ok(()))
    }
}

impl Write for Memory {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.said.borrow_mut().extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// The requests that hyper reads from `bytes`, and what it says to them: 404 to all.
fn hyper_reads(bytes: &[u8]) -> (Vec<Parts>, Vec<u8>) {
    let seen = Rc::new(RefCell::new(Vec::new()));
    let said = Rc::new(RefCell::new(Vec::new()));
    let io = Memory { rest: bytes.to_vec(), at: 0, said: Rc::clone(&said) };
    let service = service_fn(|request: http::Request<Incoming>| {
        let (head, body) = request.into_parts();
        seen.borrow_mut().push(head);
        async move {
            // A body that is cut short is the filter's doing.
            let _ = body.collect().await;
            let mut response = Response::new(Empty::<Bytes>::new());
            *response.status_mut() = StatusCode::NOT_FOUND;
            Ok::<_, Infallible>(response)
        }
    });
    let mut connection = Box::pin(server::Builder::new().half_close(true).serve_connection(io, service));
    let mut cx = Context::from_waker(Waker::noop());
    // Nothing is waited for, so every turn gets on; what takes longer hangs.
    for _ in 0..10_000 {
        if connection.as_mut().poll(&mut cx).is_ready() {
            break;
        }
    }
    drop(connection);
    (seen.take(), said.take())
}
