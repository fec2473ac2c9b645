//! [`Idle`]: a connection of HTTP/1.1 that carries nothing.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead as _, ReadBuf};
use tokio::task::coop::unconstrained;

use crate::runtime::open::Open;
use crate::upstream::http1::patience::Patience;
use crate::upstream::tls::Transport;

/// A connection that carries nothing.
#[derive(Debug)]
pub(crate) struct Idle {
    pub(super) transport: Transport,
    pub(super) open: Open,
    pub(super) patience: Patience,
}

impl Idle {
    pub(crate) fn new(transport: Transport, open: Open) -> Self {
        Self { transport, open, patience: Patience::default() }
    }

    /// Whether the server has neither closed it nor said anything. What comes before it is asked
    /// does not answer the next request.
    pub(crate) fn is_quiet(&mut self, cx: &mut Context<'_>) -> bool {
        let mut byte = [0];
        let mut said = ReadBuf::new(&mut byte);
        // A task that has done much in its turn is told by tokio that there is nothing to read, and
        // what the server has said would be taken for the answer to the next request.
        let quiet =
            poll_fn(|cx| Poll::Ready(Pin::new(&mut self.transport).poll_read(cx, &mut said).is_pending()));
        matches!(pin!(unconstrained(quiet)).poll(cx), Poll::Ready(true))
    }

    /// The connection, if it is quiet when it is about to be used.
    pub(crate) async fn still_quiet(mut self) -> Option<Self> {
        poll_fn(|cx| Poll::Ready(self.is_quiet(cx))).await.then_some(self)
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
    use crate::runtime::stream::Stream;

    #[tokio::test]
    async fn what_a_server_says_unasked_is_heard_however_busy_the_task_is() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let socket = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (mut server, _) = listener.accept().await.unwrap();
        let mut idle = Idle::new(Transport::Plain(Stream::Tcp(socket)), Open::new(&Rc::new(Cell::new(0))));
        assert!(poll_fn(|cx| Poll::Ready(idle.is_quiet(cx))).await);
        server.write_all(b"HTTP/1.1 200 OK\r\n").await.unwrap();
        if let Transport::Plain(socket) = &idle.transport {
            poll_fn(|cx| socket.poll_read_ready(cx)).await.unwrap();
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
