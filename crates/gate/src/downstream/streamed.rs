//! [`Streamed`]: the body of a response on a stream of HTTP/2.

use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use policy::connections::Awaited;

use crate::clients::client::Client;
use crate::downstream::unsent::{Outbox, PIECE, Piece};
use crate::runtime::clock::Clock;

/// The body of a response on a stream, in pieces whose taking is watched.
pub(crate) struct Streamed<B> {
    body: B,
    /// Of its last piece, what comes next.
    rest: Bytes,
    stream: Rc<Client>,
    clock: Rc<Clock>,
    outbox: Rc<Outbox>,
}

impl<B: Body> Streamed<B> {
    /// The body that follows a head.
    pub(crate) fn new(body: B, stream: Rc<Client>, clock: Rc<Clock>, outbox: Rc<Outbox>) -> Self {
        if !body.is_end_stream() {
            // Without any room for it, it would not even be asked for its first piece.
            stream.waits(Awaited::Taking, clock.last());
        }
        Self { body, rest: Bytes::new(), stream, clock, outbox }
    }
}

impl<B: Body<Data = Bytes, Error = io::Error> + Unpin> Body for Streamed<B> {
    type Data = Piece;
    type Error = io::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Piece>>>> {
        let streamed = self.get_mut();
        if !streamed.outbox.has_room(cx) {
            // What others of its connection were given before has not been taken: it goes on waiting
            // for its client.
            return Poll::Pending;
        }
        streamed.stream.over(Awaited::Taking);
        while streamed.rest.is_empty() {
            match ready!(Pin::new(&mut streamed.body).poll_frame(cx)).map(|frame| frame.map(Frame::into_data))
            {
                Some(Ok(Ok(data))) => streamed.rest = data,
                Some(Ok(Err(frame))) => {
                    let trailers = frame.into_trailers().unwrap_or_default();
                    return Poll::Ready(Some(Ok(Frame::trailers(trailers))));
                }
                Some(Err(why)) => return Poll::Ready(Some(Err(why))),
                None => return Poll::Ready(None),
            }
        }
        let piece = streamed.rest.split_to(streamed.rest.len().min(PIECE));
        streamed.stream.waits(Awaited::Taking, streamed.clock.last());
        Poll::Ready(Some(Ok(Frame::data(streamed.outbox.keep(piece)))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        if self.rest.is_empty() { self.body.size_hint() } else { SizeHint::new() }
    }
}
