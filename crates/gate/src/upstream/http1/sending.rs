//! [`Sending`]: a request with a body on its way to a server.

use std::fmt::Write as _;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Buf as _, Bytes, BytesMut};
use http::header::{CONTENT_LENGTH, EXPECT, TRANSFER_ENCODING};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Request};
use http_body::{Body as _, Frame};
use tokio::io::AsyncWrite;
use tokio::task::coop::unconstrained;
use tokio::time::{Sleep, sleep};

use crate::clients::incoming::BrokenOff;
use crate::upstream::body::Body;
use crate::upstream::tls::Transport;

/// A request with a body on its way to a server.
#[derive(Debug)]
pub(super) struct Sending {
    body: Body,
    coding: Coding,
    stage: Stage,
    queue: Queue,
    /// Whether the transport may hold back something of it.
    unflushed: bool,
    /// Bytes written.
    written: u64,
    /// What is needed to send it again, as long as nothing was sent.
    again: Option<Box<(Parts, Option<Frame<Bytes>>)>>,
}

/// How the end of the body is told (RFC 9112 section 6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Coding {
    /// So many bytes are left.
    Length(u64),
    Chunks,
}

#[derive(Debug)]
enum Stage {
    /// The server is asked first whether it wants the body (RFC 9110 section 10.1.1).
    Waiting(Pin<Box<Sleep>>),
    Going,
    /// All is in the queue.
    Over,
}

/// Why nothing more is sent.
#[derive(Debug)]
pub(super) enum Stopped {
    /// The client broke off.
    Client(BrokenOff),
    /// The server takes no more.
    Server(io::Error),
}

/// How long a server is waited for to say 100 (Continue). Not all know how to.
const CONTINUE_TIMEOUT: Duration = Duration::from_secs(1);

/// Pieces of so few bytes are copied behind what comes before them: that costs less than a list of pieces.
const JOINED: usize = 8 * 1024;

impl Sending {
    pub(super) fn new(request: Request<Body>) -> Self {
        let (mut head, body) = request.into_parts();
        let given = head.headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
        let coding = match given.or_else(|| body.whole_length()) {
            Some(length) => Coding::Length(length),
            None => Coding::Chunks,
        };
        match coding {
            Coding::Length(length) if given.is_none() => {
                head.headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
            }
            Coding::Length(_) => {}
            Coding::Chunks => {
                head.headers.insert(TRANSFER_ENCODING, HeaderValue::from_static("chunked"));
            }
        }
        let stage = match head.headers.contains_key(EXPECT) {
            true => Stage::Waiting(Box::pin(sleep(CONTINUE_TIMEOUT))),
            false => Stage::Going,
        };
        let mut queue = Queue::default();
        let request = Request::from_parts(head, ());
        write_head(&mut queue.lead, &request);
        let (head, ()) = request.into_parts();
        Self { body, coding, stage, queue, unflushed: false, written: 0, again: Some(Box::new((head, None))) }
    }

    /// Sends on, until all is sent.
    pub(super) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        transport: &mut Transport,
    ) -> Poll<Result<(), Stopped>> {
        if self.is_untouched() && self.queue.data.is_empty() && matches!(self.stage, Stage::Going) {
            // Head and first piece go together.
            let _ = self.fetch(cx)?;
        }
        loop {
            ready!(self.poll_write(cx, transport)).map_err(Stopped::Server)?;
            let fetched = match &mut self.stage {
                Stage::Over => Poll::Ready(()),
                Stage::Waiting(timer) => match pin!(unconstrained(timer.as_mut())).poll(cx) {
                    Poll::Ready(()) => {
                        self.go_on();
                        continue;
                    }
                    Poll::Pending => Poll::Pending,
                },
                Stage::Going => self.fetch(cx)?,
            };
            if !self.queue.is_empty() {
                continue;
            }
            if self.unflushed {
                ready!(Pin::new(&mut *transport).poll_flush(cx)).map_err(Stopped::Server)?;
                self.unflushed = false;
            }
            ready!(fetched);
            if matches!(self.stage, Stage::Over) {
                return Poll::Ready(Ok(()));
            }
        }
    }

    /// The server wants the body, or is taken to want it.
    pub(super) fn go_on(&mut self) {
        if matches!(self.stage, Stage::Waiting(_)) {
            self.stage = Stage::Going;
        }
    }

    /// Whether all is sent.
    pub(super) fn is_over(&self) -> bool {
        matches!(self.stage, Stage::Over) && self.queue.is_empty() && !self.unflushed
    }

    /// How much the server has taken while there is more for it; none while there is nothing.
    pub(super) fn untaken(&self) -> Option<u64> {
        (!self.queue.is_empty() || self.unflushed).then_some(self.written)
    }

    /// Whether nothing of the body has been asked of the client.
    pub(super) fn has_not_begun(&self) -> bool {
        matches!(self.stage, Stage::Waiting(_))
    }

    /// Whether nothing was sent.
    pub(super) fn is_untouched(&self) -> bool {
        self.again.is_some()
    }

    /// The request, if nothing of it was sent.
    pub(super) fn take_back(self) -> Option<Request<Body>> {
        let (mut head, taken) = *self.again?;
        let mut body = self.body;
        if let Some(frame) = taken {
            body.put_back(frame);
        }
        head.headers.remove(TRANSFER_ENCODING);
        Some(Request::from_parts(head, body))
    }

    fn poll_write(&mut self, cx: &mut Context<'_>, transport: &mut Transport) -> Poll<io::Result<()>> {
        while !self.queue.is_empty() {
            let written = ready!(self.queue.poll_write(cx, Pin::new(&mut *transport)))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.queue.advance(written);
            self.written += written as u64;
            self.unflushed = true;
            self.again = None;
        }
        Poll::Ready(Ok(()))
    }

    /// Puts the next of the body into the queue, once there is some.
    fn fetch(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Stopped>> {
        let Some(frame) = ready!(Pin::new(&mut self.body).poll_frame(cx)) else {
            return Poll::Ready(self.end(&HeaderMap::new()));
        };
        let frame = frame.map_err(Stopped::Client)?;
        if let Some(again) = &mut self.again {
            again.1 = Some(match (frame.data_ref(), frame.trailers_ref()) {
                (Some(data), _) => Frame::data(data.clone()),
                (_, trailers) => Frame::trailers(trailers.cloned().unwrap_or_default()),
            });
        }
        match frame.into_data() {
            Ok(data) => self.add(data)?,
            Err(frame) => return Poll::Ready(self.end(&frame.into_trailers().unwrap_or_default())),
        }
        if self.body.is_end_stream() {
            return Poll::Ready(self.end(&HeaderMap::new()));
        }
        Poll::Ready(Ok(()))
    }

    fn add(&mut self, data: Bytes) -> Result<(), Stopped> {
        if data.is_empty() {
            return Ok(());
        }
        match &mut self.coding {
            Coding::Length(left) => {
                let length = data.len() as u64;
                // No more than was promised: the rest would be another request.
                *left = left
                    .checked_sub(length)
                    .ok_or_else(|| Stopped::Server(io::ErrorKind::InvalidData.into()))?;
                self.queue.add(data);
            }
            Coding::Chunks => {
                // Writing to memory cannot fail.
                let _ = write!(self.queue.lead, "{:x}\r\n", data.len());
                self.queue.add(data);
                self.queue.end(b"\r\n");
            }
        }
        Ok(())
    }

    fn end(&mut self, trailers: &HeaderMap) -> Result<(), Stopped> {
        self.stage = Stage::Over;
        match self.coding {
            Coding::Length(0) => Ok(()),
            // The client's connection ended, and hyper has not said so.
            Coding::Length(_) => Err(Stopped::Server(io::ErrorKind::UnexpectedEof.into())),
            Coding::Chunks => {
                self.queue.end(b"0\r\n");
                for (name, value) in trailers {
                    for bytes in [name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"] {
                        self.queue.end(bytes);
                    }
                }
                self.queue.end(b"\r\n");
                Ok(())
            }
        }
    }
}

/// What is written next.
#[derive(Debug, Default)]
struct Queue {
    lead: BytesMut,
    /// A piece too large to be copied.
    data: Bytes,
    /// Behind that.
    trail: BytesMut,
}

impl Queue {
    fn is_empty(&self) -> bool {
        self.lead.is_empty() && self.data.is_empty() && self.trail.is_empty()
    }

    fn add(&mut self, data: Bytes) {
        match data.len() <= JOINED {
            true => self.lead.extend_from_slice(&data),
            false => self.data = data,
        }
    }

    fn end(&mut self, bytes: &[u8]) {
        let last = if self.data.is_empty() { &mut self.lead } else { &mut self.trail };
        last.extend_from_slice(bytes);
    }

    fn poll_write(&self, cx: &mut Context<'_>, transport: Pin<&mut Transport>) -> Poll<io::Result<usize>> {
        if self.data.is_empty() && self.trail.is_empty() {
            return transport.poll_write(cx, &self.lead);
        }
        let pieces = [&self.lead[..], &self.data[..], &self.trail[..]].map(io::IoSlice::new);
        let first = pieces.iter().position(|piece| !piece.is_empty()).unwrap_or(0);
        transport.poll_write_vectored(cx, &pieces[first..])
    }

    fn advance(&mut self, mut written: usize) {
        let mut take = |length: usize| {
            let taken = written.min(length);
            written -= taken;
            taken
        };
        let (lead, data) = (take(self.lead.len()), take(self.data.len()));
        let trail = take(self.trail.len());
        self.lead.advance(lead);
        self.data.advance(data);
        self.trail.advance(trail);
        if self.data.is_empty() {
            // The memory goes back at once.
            self.data = Bytes::new();
        }
    }
}

/// Writes the head of a request (RFC 9112 sections 3 and 5). Nothing in it can hold the end of a
/// line: the types see to that.
pub(super) fn write_head<B>(to: &mut BytesMut, request: &Request<B>) {
    let target = request.uri().path_and_query().map_or("/", |target| target.as_str());
    for text in [request.method().as_str(), " ", target, " HTTP/1.1\r\n"] {
        to.extend_from_slice(text.as_bytes());
    }
    for (name, value) in request.headers() {
        to.extend_from_slice(name.as_str().as_bytes());
        to.extend_from_slice(b": ");
        to.extend_from_slice(value.as_bytes());
        to.extend_from_slice(b"\r\n");
    }
    to.extend_from_slice(b"\r\n");
}
