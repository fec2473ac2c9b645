//! [`Full`]: a request with a body, or one by which a connection may become a tunnel.

use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body as _, Frame, SizeHint};
use hyper::body::Incoming;
use hyper::client::conn::http1::{Builder, Connection, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::task::coop::unconstrained;

use crate::runtime::open::Open;
use crate::upstream::body::Body;
use crate::upstream::http1::idle::Idle;
use crate::upstream::outgoing::Unsent;
use crate::upstream::tls::Transport;

/// A request that hyper sends, and whose response it reads.
#[derive(Debug)]
pub(crate) struct Full {
    sender: SendRequest<Body>,
    /// None when a task of its own moves it along, and when it is closed.
    moved: Option<Box<Moved>>,
    incoming: Incoming,
}

#[derive(Debug)]
struct Moved {
    connection: Connection<TokioIo<Transport>, Body>,
    open: Open,
}

impl Full {
    /// Sends a request, and waits for the head of its response. If it `upgrades`, the connection may
    /// become a tunnel.
    pub(crate) async fn ask(
        Idle { transport, open, .. }: Idle,
        request: Request<Body>,
        upgrades: bool,
    ) -> Result<(Response<()>, Self), Unsent> {
        let (mut sender, connection) = match Builder::new().handshake(TokioIo::new(transport)).await {
            Ok(both) => both,
            Err(why) => return Err((why, Some(request))),
        };
        let mut moved = Some(Box::new(Moved { connection, open }));
        if upgrades {
            let_go(&mut moved, true);
        }
        let progress = request.body().progress();
        // Out of turns it would want to be woken, and there may be no task to wake here.
        let mut response = pin!(unconstrained(sender.try_send_request(request)));
        let response = poll_fn(|cx| match advance(&mut moved, cx) {
            // Whatever makes it ready is done by now; to be woken for it would be a turn for nothing.
            true => response.as_mut().poll(&mut Context::from_waker(Waker::noop())),
            false => response.as_mut().poll(cx),
        });
        let response = response.await.map_err(|mut failed| (failed.take_message(), failed.into_error()));
        let (head, incoming) = response.map_err(|(request, why)| (why, request))?.into_parts();
        if !progress.is_over() {
            // The client may send all of its request before it takes any of the response, by which
            // the connection would be moved along.
            let_go(&mut moved, false);
        }
        Ok((Response::from_parts(head, ()), Self { sender, moved, incoming }))
    }

    /// The next piece of the response's body.
    pub(crate) fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let mut incoming = Pin::new(&mut self.incoming);
        let mut frame = Poll::Pending;
        if self.moved.is_some() {
            frame = incoming.as_mut().poll_frame(&mut Context::from_waker(Waker::noop()));
            if frame.is_pending() && advance(&mut self.moved, cx) {
                frame = incoming.as_mut().poll_frame(&mut Context::from_waker(Waker::noop()));
            }
        }
        if frame.is_pending() && self.moved.is_none() {
            frame = incoming.poll_frame(cx);
        }
        frame.map(|frame| frame.map(|frame| frame.map_err(io::Error::other)))
    }

    pub(crate) fn is_end_stream(&self) -> bool {
        self.incoming.is_end_stream()
    }

    pub(crate) fn size_hint(&self) -> SizeHint {
        self.incoming.size_hint()
    }

    /// The connection for another request.
    pub(crate) fn settle(mut self) -> Option<Idle> {
        let ready = self.sender.is_ready() || {
            advance(&mut self.moved, &mut Context::from_waker(Waker::noop()));
            self.sender.is_ready()
        };
        let Moved { connection, open } = *self.moved.filter(|_| ready)?;
        let parts = connection.into_parts();
        let idle = Idle::new(parts.io.into_inner(), open);
        parts.read_buf.is_empty().then_some(idle)
    }
}

/// Moves a connection along; whether that was to be done here, and it is not closed.
fn advance(moved: &mut Option<Box<Moved>>, cx: &mut Context<'_>) -> bool {
    // What is wrong with it, the request that uses it is told.
    if let Some(moving) = moved
        && Pin::new(&mut moving.connection).poll(cx).is_ready()
    {
        *moved = None;
    }
    moved.is_some()
}

/// Gives a connection a task that moves it along.
fn let_go(moved: &mut Option<Box<Moved>>, upgrades: bool) {
    if let Some(moved) = moved.take() {
        let Moved { connection, open } = *moved;
        tokio::task::spawn_local(async move {
            let _ = if upgrades { connection.with_upgrades().await } else { connection.await };
            drop(open);
        });
    }
}
