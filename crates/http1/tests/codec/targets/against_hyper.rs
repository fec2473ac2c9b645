//! What is read is held against what hyper reads: the requests that pass with their bodies, and whole
//! responses.

use std::cell::RefCell;
use std::convert::Infallible;
use std::io;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use bytes::{Bytes, BytesMut};
use http::header::{CONNECTION, CONTENT_LENGTH, HOST, TRANSFER_ENCODING};
use http::request::Parts;
use http::{Method, Request, Response, StatusCode, Version};
use http_body_util::{BodyExt as _, Empty};
use http1::chunks::{Chunks, Part, Rules};
use http1::fields::room;
use http1::request::{self, Filter, Framing, Limits};
use http1::response::{self, Body, Message, Next, Piece, Reader};
use hyper::body::Incoming;
use hyper::client::conn::http1 as client;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper::server::conn::http1 as server;
use hyper::service::service_fn;

/// Tries both on `data`. The first byte says whether it is requests (even), the response to a HEAD (1)
/// or another response.
///
/// # Panics
/// When hyper reads something else.
pub(crate) fn try_on(data: &[u8]) {
    match data {
        [kind, bytes @ ..] if kind % 2 == 0 => requests(bytes),
        [1, bytes @ ..] => response(bytes, &Method::HEAD),
        [_, bytes @ ..] => response(bytes, &Method::GET),
        [] => {}
    }
}

/// A request, and its body if all of it has come.
#[derive(Debug, PartialEq, Eq)]
struct Received {
    method: String,
    target: String,
    body: Option<Vec<u8>>,
}

fn requests(bytes: &[u8]) {
    let mut filter = Filter::new(Limits::default());
    let good = filter.take(bytes);
    let mut passed = bytes[..good].to_vec();
    loop {
        // All that has passed is answered at once.
        filter.answered(filter.requests());
        let ready = filter.ready().len();
        if ready == 0 {
            break;
        }
        passed.extend_from_slice(filter.ready());
        filter.passed(ready);
    }
    // HTTP/2 is not looked at.
    if filter.requests() > 0 {
        let ours = read(&passed);
        assert_eq!(ours.len() as u64, filter.requests(), "{}", passed.escape_ascii());
        judge(&passed, &ours);
    }
}

/// What the forgiving parser makes of bytes that the strict one lets pass.
fn read(mut rest: &[u8]) -> Vec<Received> {
    let mut read = Vec::new();
    loop {
        let mut room = room::<100>();
        let Ok(Some(head)) = request::Head::parse(rest, &mut room) else { return read };
        rest = &rest[head.length..];
        let Ok(meaning) = head.meaning() else { panic!("a head that passes and means nothing") };
        let body = match meaning.framing {
            Framing::Nothing => Some(Vec::new()),
            Framing::Length(length) => {
                let body = usize::try_from(length).ok().and_then(|length| rest.split_at_checked(length));
                let (body, left) =
                    body.map_or((None, &rest[rest.len()..]), |(body, left)| (Some(body), left));
                rest = left;
                body.map(<[u8]>::to_vec)
            }
            Framing::Chunks => chunks(&mut rest),
        };
        read.push(Received { method: head.method.to_owned(), target: head.target.to_owned(), body });
    }
}

fn chunks(rest: &mut &[u8]) -> Option<Vec<u8>> {
    let (mut chunks, mut body) = (Chunks::default(), Vec::new());
    loop {
        match chunks.next(rest, &Rules::RESPONSE) {
            Ok(Part::Data(data)) => body.extend_from_slice(data),
            Ok(Part::Trailers(_)) => {}
            Ok(Part::End) => return Some(body),
            Ok(Part::More) => return None,
            Err(fault) => panic!("chunks that pass, and then do not: {fault}"),
        }
    }
}

fn judge(passed: &[u8], ours: &[Received]) {
    let (seen, said) = hyper_reads_requests(passed);
    let context = passed.escape_ascii().to_string();
    let said = String::from_utf8_lossy(&said);
    assert_eq!(said.matches("HTTP/1.").count(), said.matches(" 404 ").count(), "{said} to {context}");
    // A client that says so gets one answer, and hyper reads no further.
    let last = seen.last().is_some_and(|ReadRequest { head, .. }| {
        head.version == Version::HTTP_10 || head.headers.contains_key(CONNECTION)
    });
    assert!(seen.len() == ours.len() || last, "{} of {context}", seen.len());
    for (ReadRequest { head, body }, ours) in seen.iter().zip(ours) {
        let count = |name| head.headers.get_all(name).iter().count();
        let hosts = count(HOST);
        assert!(hosts == 1 || (hosts == 0 && head.version == Version::HTTP_10), "{context}");
        assert!(count(CONTENT_LENGTH) + count(TRANSFER_ENCODING) <= 1, "{context}");
        assert_eq!(head.method.as_str(), ours.method, "{context}");
        if head.uri.authority().is_none() {
            assert_eq!(head.uri.to_string(), ours.target, "{context}");
        }
        assert_eq!(*body, ours.body, "{context}");
    }
}

/// A client of hyper's, in memory.
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

/// A request that hyper has read, and its body if that is whole.
struct ReadRequest {
    head: Parts,
    body: Option<Vec<u8>>,
}

/// The requests that hyper reads from `bytes`, and what it says to them: 404 to all.
fn hyper_reads_requests(bytes: &[u8]) -> (Vec<ReadRequest>, Vec<u8>) {
    let seen = Rc::new(RefCell::new(Vec::new()));
    let said = Rc::new(RefCell::new(Vec::new()));
    let io = Memory { rest: bytes.to_vec(), at: 0, said: Rc::clone(&said) };
    let service = service_fn(|request: Request<Incoming>| {
        let (head, body) = request.into_parts();
        let index = seen.borrow().len();
        seen.borrow_mut().push(ReadRequest { head, body: None });
        let seen = Rc::clone(&seen);
        async move {
            // A body that is cut short is the filter's doing.
            if let Ok(body) = body.collect().await {
                seen.borrow_mut()[index].body = Some(body.to_bytes().to_vec());
            }
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

fn response(bytes: &[u8], method: &Method) {
    let mut buffer = BytesMut::from(bytes);
    // hyper reads no more lines than that.
    let mut reader = Reader::new(response::Limits { fields: 100, ..response::Limits::default() });
    let message = loop {
        match reader.read(&mut buffer, method) {
            Ok(Some(Next::Final(message))) => break message,
            Ok(Some(Next::Interim(_))) => {}
            Ok(None) | Err(_) => return,
        }
    };
    let Message { response, body: mut coming, rest: mut here, .. } = message;
    let mut body = Vec::new();
    loop {
        match coming.next(&mut here) {
            Ok(Piece::Data(data)) => body.extend_from_slice(&data),
            Ok(Piece::Trailers(_)) => {}
            Ok(Piece::End) => break,
            Ok(Piece::More) if coming == Body::UntilClose => break,
            Ok(Piece::More) | Err(_) => return,
        }
    }
    // After a change of protocol, HTTP is not spoken any more.
    let status = response.status();
    if status != StatusCode::SWITCHING_PROTOCOLS {
        assert_eq!(hyper_reads_response(bytes, method), Some((status, body)), "{}", bytes.escape_ascii());
    }
}

/// A server in memory that says some bytes once it is asked, and then closes.
struct Server<'a> {
    rest: &'a [u8],
    asked: bool,
}

impl Read for Server<'_> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        mut to: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        if !self.asked {
            return Poll::Pending;
        }
        let (now, rest) = self.rest.split_at(to.remaining().min(self.rest.len()));
        to.put_slice(now);
        self.rest = rest;
        Poll::Ready(Ok(()))
    }
}

impl Write for Server<'_> {
    fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.asked = true;
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// The status and the body that hyper reads; none when it finds fault with them.
fn hyper_reads_response(bytes: &[u8], method: &Method) -> Option<(StatusCode, Vec<u8>)> {
    let mut cx = Context::from_waker(Waker::noop());
    let mut client = client::Builder::new();
    // A proxy takes white space before a colon out instead (RFC 9112 section 5.1).
    client.allow_spaces_after_header_name_in_responses(true);
    let mut shaken = pin!(client.handshake(Server { rest: bytes, asked: false }));
    let Poll::Ready(shaken) = shaken.as_mut().poll(&mut cx) else { panic!("nothing to wait for") };
    let (mut sender, connection) = shaken.ok()?;
    let mut connection = Some(Box::pin(connection));
    let answered = async {
        let mut request = Request::new(Empty::<Bytes>::new());
        method.clone_into(request.method_mut());
        let response = sender.send_request(request).await.ok()?;
        let status = response.status();
        Some((status, response.collect().await.ok()?.to_bytes().to_vec()))
    };
    let mut answered = pin!(answered);
    // Nothing is waited for, so every turn gets on; what takes longer hangs.
    for _ in 0..10_000 {
        if let Poll::Ready(read) = answered.as_mut().poll(&mut cx) {
            return read;
        }
        if connection.as_mut().is_some_and(|moving| moving.as_mut().poll(&mut cx).is_ready()) {
            connection = None;
        }
    }
    panic!("hyper does not come to an end: {}", bytes.escape_ascii())
}
