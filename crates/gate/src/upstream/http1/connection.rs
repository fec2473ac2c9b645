//! Connections to servers that speak HTTP/1.1: each carries one request at a time.
//!
//! Most requests have no body. Such a one (`bare`) is written, and its response read, by its own
//! task and by nothing else: no task of the connection has to be woken for it, nothing passes
//! through a channel, and the request stays at hand in case it has to be sent again. With a body,
//! request and response are under way at the same time, as they are when a connection becomes a
//! tunnel; that is left to hyper (`full`). Between requests a connection is only a socket, so that
//! either can have it next.

use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use http_body::{Frame, SizeHint};
use tokio::io::{AsyncRead as _, ReadBuf};
use tokio::task::coop::unconstrained;

use crate::upstream::connection::Open;
use crate::upstream::http1::bare::Bare;
use crate::upstream::http1::full::Full;
use crate::upstream::http1::patience::Patience;
use crate::upstream::tls::Line;

/// A connection that carries nothing.
#[derive(Debug)]
pub(crate) struct Idle {
    pub(super) line: Line,
    pub(super) open: Open,
    /// What the next request is written to and its response read to; empty.
    pub(super) buffer: BytesMut,
    pub(super) patience: Patience,
}

/// A connection that carries a request.
#[derive(Debug)]
pub(crate) enum Exclusive {
    Bare(Bare),
    Full(Full),
}

impl Idle {
    pub(crate) fn new(line: Line, open: Open) -> Self {
        Self { line, open, buffer: BytesMut::new(), patience: Patience::default() }
    }

    /// Whether the server has neither closed it nor said anything. What comes before it is asked
    /// is no answer to the next request.
    pub(crate) fn is_quiet(&mut self, cx: &mut Context<'_>) -> bool {
        let mut byte = [0];
        let mut said = ReadBuf::new(&mut byte);
        // A task that has done much in its turn is told by tokio that there is nothing to read, and
        // what the server has said would be taken for the answer to the next request.
        let quiet = poll_fn(|cx| Poll::Ready(Pin::new(&mut self.line).poll_read(cx, &mut said).is_pending()));
        matches!(pin!(unconstrained(quiet)).poll(cx), Poll::Ready(true))
    }

    /// The same, for who is about to use it.
    pub(crate) async fn still_quiet(mut self) -> Option<Self> {
        poll_fn(|cx| Poll::Ready(self.is_quiet(cx))).await.then_some(self)
    }
}

impl Exclusive {
    /// The next piece of the response's body.
    pub(crate) fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        match self {
            Self::Bare(bare) => bare.poll_frame(cx),
            Self::Full(full) => full.poll_frame(cx),
        }
    }

    /// Whether the response's body is over, as far as that is known without reading on.
    pub(crate) fn is_end_stream(&self) -> bool {
        match self {
            Self::Bare(bare) => bare.is_end_stream(),
            Self::Full(full) => full.is_end_stream(),
        }
    }

    pub(crate) fn size_hint(&self) -> SizeHint {
        match self {
            Self::Bare(bare) => bare.size_hint(),
            Self::Full(full) => full.size_hint(),
        }
    }

    /// The connection for another request, now that the response is over; none if it cannot carry
    /// one.
    pub(crate) fn settle(self) -> Option<Idle> {
        match self {
            Self::Bare(bare) => bare.settle(),
            Self::Full(full) => full.settle(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use tokio::io::AsyncWriteExt as _;
    use tokio::net::{TcpListener, TcpStream};
    use tokio::task::coop::poll_proceed;

    use super::*;

    #[tokio::test]
    async fn what_a_server_says_unasked_is_heard_however_busy_the_task_is() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let socket = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (mut server, _) = listener.accept().await.unwrap();
        let mut idle = Idle::new(Line::Plain(socket), Open::new(&Rc::new(Cell::new(0))));
        assert!(poll_fn(|cx| Poll::Ready(idle.is_quiet(cx))).await);
        server.write_all(b"HTTP/1.1 200 OK\r\n").await.unwrap();
        if let Line::Plain(socket) = &idle.line {
            socket.readable().await.unwrap();
        }
        let heard = poll_fn(|cx| {
            while let Poll::Ready(turn) = poll_proceed(cx) {
                turn.made_progress();
            }
            Poll::Ready(!idle.is_quiet(cx))
        });
        assert!(heard.await);
    }
}
