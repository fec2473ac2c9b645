//! [`Streamed`]: the body of a response on a stream of HTTP/2.

use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use super::Client;
use crate::clock::Clock;
use crate::reply::Reply;

/// hyper asks for more when the client has made room for all it was given. So it is given no more
/// at once than a frame has by default (RFC 9113 section 4.2): a client that does not make room
/// for that much in time takes nothing.
const PIECE: usize = 16 * 1024;

/// The body of a response on a stream, in pieces whose taking is watched.
pub(super) struct Streamed {
    reply: Reply,
    /// Of the last piece of the reply, what comes next.
    rest: Bytes,
    stream: Rc<Client>,
    clock: Rc<Clock>,
}

impl Streamed {
    /// The body that follows a head.
    pub(super) fn new(reply: Reply, stream: Rc<Client>, clock: Rc<Clock>) -> Self {
        if !reply.is_end_stream() {
            // Without any room for it, it would not even be asked for its first piece.
            stream.sending.waits(clock.last());
        }
        Self { reply, rest: Bytes::new(), stream, clock }
    }
}

impl Body for Streamed {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let body = self.get_mut();
        body.stream.sending.over();
        while body.rest.is_empty() {
            match ready!(Pin::new(&mut body.reply).poll_frame(cx)).map(|frame| frame.map(Frame::into_data)) {
                Some(Ok(Ok(data))) => body.rest = data,
                Some(Ok(Err(trailers))) => return Poll::Ready(Some(Ok(trailers))),
                Some(Err(why)) => return Poll::Ready(Some(Err(why))),
                None => return Poll::Ready(None),
            }
        }
        let piece = body.rest.split_to(body.rest.len().min(PIECE));
        body.stream.sending.waits(body.clock.last());
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.reply.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        if self.rest.is_empty() { self.reply.size_hint() } else { SizeHint::new() }
    }
}
