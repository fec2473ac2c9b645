//! [`Streamed`]: the body of a response on a stream of HTTP/2.

use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use crate::clients::client::Client;
use crate::dispatch::response_body::Reply;
use crate::downstream::unsent::{Outbox, Piece};
use crate::runtime::clock::Clock;

/// hyper asks for more when the client has made room for all it was given. So it is given no more
/// at once than a frame has by default (RFC 9113 section 4.2): a client that does not make room
/// for that much in time takes nothing.
pub(crate) const PIECE: usize = 16 * 1024;

/// The body of a response on a stream, in pieces whose taking is watched.
pub(crate) struct Streamed {
    reply: Reply,
    /// Of the last piece of the reply, what comes next.
    rest: Bytes,
    stream: Rc<Client>,
    clock: Rc<Clock>,
    outbox: Rc<Outbox>,
}

impl Streamed {
    /// The body that follows a head.
    pub(crate) fn new(reply: Reply, stream: Rc<Client>, clock: Rc<Clock>, outbox: Rc<Outbox>) -> Self {
        if !reply.is_end_stream() {
            // Without any room for it, it would not even be asked for its first piece.
            stream.sending.waits(clock.last());
        }
        Self { reply, rest: Bytes::new(), stream, clock, outbox }
    }
}

impl Body for Streamed {
    type Data = Piece;
    type Error = io::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Piece>>>> {
        let body = self.get_mut();
        if !body.outbox.has_room(cx) {
            // What others of its connection were given before has not been taken: it goes on waiting
            // for its client.
            return Poll::Pending;
        }
        body.stream.sending.over();
        while body.rest.is_empty() {
            match ready!(Pin::new(&mut body.reply).poll_frame(cx)).map(|frame| frame.map(Frame::into_data)) {
                Some(Ok(Ok(data))) => body.rest = data,
                Some(Ok(Err(frame))) => {
                    let trailers = frame.into_trailers().unwrap_or_default();
                    return Poll::Ready(Some(Ok(Frame::trailers(trailers))));
                }
                Some(Err(why)) => return Poll::Ready(Some(Err(why))),
                None => return Poll::Ready(None),
            }
        }
        let piece = body.rest.split_to(body.rest.len().min(PIECE));
        body.stream.sending.waits(body.clock.last());
        Poll::Ready(Some(Ok(Frame::data(body.outbox.keep(piece)))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.reply.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        if self.rest.is_empty() { self.reply.size_hint() } else { SizeHint::new() }
    }
}
