//! [`Bare`]: a request without a body, and its response.

use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::{Method, Request, Response};
use http_body::{Frame, SizeHint};
use http1::response::{Body, Malformed, Message, Piece, Reader};
use tokio::io::{AsyncReadExt as _, AsyncWrite as _, AsyncWriteExt as _};

use crate::runtime::open::Open;
use crate::upstream::failure::Failure;
use crate::upstream::http1::idle::Idle;
use crate::upstream::http1::patience::Patience;
use crate::upstream::tls::Transport;

/// A request without a body that has been sent, and whose response comes.
#[derive(Debug)]
pub(crate) struct Bare {
    transport: Transport,
    open: Open,
    /// Of the connection, for the next request.
    buffer: BytesMut,
    patience: Patience,
    /// What the body is read to.
    room: BytesMut,
    /// Of what was read, what has not been passed on.
    here: Bytes,
    body: Body,
    /// Whether the server takes another request after this one.
    keep: bool,
    /// What has gone wrong with the response, and is told next.
    broken: Option<io::Error>,
}

/// Why there is no response.
#[derive(Debug)]
pub(crate) enum Unanswered {
    /// Nothing of the request has been sent.
    Unsent(io::Error),
    /// The connection broke off.
    Lost(io::Error),
    /// It did not come in time.
    Timeout,
    Malformed(Malformed),
}

impl From<Unanswered> for Failure {
    fn from(why: Unanswered) -> Self {
        match why {
            Unanswered::Unsent(why) | Unanswered::Lost(why) => Self::Lost(why),
            Unanswered::Timeout => Self::Timeout,
            Unanswered::Malformed(why) => Self::Malformed(why),
        }
    }
}

/// What is read at once of a head: most responses as a whole.
const FIRST: usize = 8 * 1024;
/// What is read at once of a body.
const PIECE: usize = 64 * 1024;
/// Of a body whose length is not known.
const UNKNOWN: usize = 16 * 1024;

impl Bare {
    /// Sends a request without a body, and waits for the head of its response, for so long at most.
    pub(crate) async fn ask<B>(
        idle: Idle,
        request: &Request<B>,
        longest: Duration,
    ) -> Result<(Response<()>, Self), Unanswered> {
        let Idle { mut transport, open, mut buffer, mut patience } = idle;
        let asked = async {
            buffer.reserve(FIRST);
            write_head(&mut buffer, request);
            send(&mut transport, &buffer).await?;
            buffer.clear();
            read_head(&mut transport, &mut buffer, request.method()).await
        };
        let head = patience.within(longest, asked).await.ok_or(Unanswered::Timeout)??;
        let Message { response, body, keep, rest } = head;
        let room = BytesMut::new();
        Ok((response, Self { transport, open, buffer, patience, room, here: rest, body, keep, broken: None }))
    }

    /// The next piece of the response's body.
    pub(crate) fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if let Some(why) = self.broken.take() {
            return Poll::Ready(Some(Err(why)));
        }
        let why = loop {
            match self.body.next(&mut self.here) {
                Ok(Piece::Data(data)) => return Poll::Ready(Some(Ok(Frame::data(data)))),
                Ok(Piece::Trailers(fields)) => return Poll::Ready(Some(Ok(Frame::trailers(fields)))),
                Ok(Piece::End) => return Poll::Ready(None),
                Ok(Piece::More) => {}
                Err(malformed) => break io::Error::other(malformed),
            }
            match ready!(self.poll_read(cx)) {
                Ok(0) if self.body == Body::UntilClose => {
                    (self.body, self.keep) = (Body::Nothing, false);
                }
                Ok(0) => break io::ErrorKind::UnexpectedEof.into(),
                Ok(_) => {}
                Err(why) => break why,
            }
        };
        // After an error nothing goes out any more, so what has come before it goes out first.
        self.broken = Some(why);
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        // One byte more than there should be: a read that fills its room says nothing about
        // whether there is more, and costs another.
        let most = self.body.left().map_or(UNKNOWN, |left| left.min(PIECE as u64) as usize + 1);
        self.room.reserve(most);
        let read = ready!(pin!(self.transport.read_buf(&mut self.room)).poll(cx));
        self.here = self.room.split().freeze();
        Poll::Ready(read)
    }

    pub(crate) fn is_end_stream(&self) -> bool {
        self.body == Body::Nothing
    }

    pub(crate) fn size_hint(&self) -> SizeHint {
        self.body.left().map_or_else(SizeHint::default, SizeHint::with_exact)
    }

    /// The connection for another request. What the server has said beyond this response makes
    /// it unfit for one.
    pub(crate) fn settle(self) -> Option<Idle> {
        let Self { transport, open, buffer, patience, here, body, keep, .. } = self;
        let over = body == Body::Nothing && here.is_empty();
        (keep && over).then_some(Idle { transport, open, buffer, patience })
    }
}

/// Writes the head of a request (RFC 9112 sections 3 and 5). Nothing in it can hold the end of a
/// line: the types see to that.
fn write_head<B>(to: &mut BytesMut, request: &Request<B>) {
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

async fn send(transport: &mut Transport, bytes: &[u8]) -> Result<(), Unanswered> {
    let first = poll_fn(|cx| Pin::new(&mut *transport).poll_write(cx, bytes)).await;
    let sent = first.map_err(Unanswered::Unsent)?;
    if sent < bytes.len() {
        transport.write_all(&bytes[sent..]).await.map_err(Unanswered::Lost)?;
    }
    transport.flush().await.map_err(Unanswered::Lost)
}

/// Reads the head of the response, past those of interim responses (RFC 9110 section 15.2).
async fn read_head(
    transport: &mut Transport,
    buffer: &mut BytesMut,
    method: &Method,
) -> Result<Message, Unanswered> {
    let mut reader = Reader::default();
    loop {
        if let Some(message) = reader.read(buffer, method).map_err(Unanswered::Malformed)? {
            return Ok(message);
        }
        buffer.reserve(FIRST);
        let read = transport.read_buf(buffer).await.map_err(Unanswered::Lost)?;
        if read == 0 {
            return Err(Unanswered::Lost(io::ErrorKind::UnexpectedEof.into()));
        }
    }
}
