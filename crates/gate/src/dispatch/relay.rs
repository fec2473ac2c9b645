//! [`Relay`]: the body of a response on its way from the upstream to the client.

use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use http_body::{Frame, SizeHint};
use http1::headers::hop_by_hop;
use policy::Stream;
use policy::connections::Awaited;

use crate::admission::permit::Permit;
use crate::clients::client::Client;
use crate::dispatch::dispatcher::Dispatcher;
use crate::upstream::failure::Failure;
use crate::upstream::lease::Lease;

/// What is still read of a response whose client has gone. A longer one is cut off by closing the
/// connection, which costs the server less than writing it to the end.
const UNWANTED: usize = 1 << 20;

/// A response's body. The server is done with the request when it is over; its place is given back sooner when the
/// server is silent or the client takes nothing.
#[derive(Debug)]
pub(crate) struct Relay {
    dispatcher: Rc<Dispatcher>,
    client: Rc<Client>,
    running: Option<Running>,
}

#[derive(Debug)]
struct Running {
    lease: Lease,
    permit: Permit,
}

impl Relay {
    pub(crate) fn new(
        dispatcher: &Rc<Dispatcher>,
        client: &Rc<Client>,
        lease: Lease,
        permit: Permit,
        stream: Stream,
    ) -> Self {
        let running = Some(Running { lease, permit });
        let mut relay = Self { dispatcher: Rc::clone(dispatcher), client: Rc::clone(client), running };
        relay.go_on(stream);
        relay
    }

    /// The request is over, or more of its response is to come.
    fn go_on(&mut self, stream: Stream) {
        if let Some(running) = self.running.take_if(|running| running.lease.is_end_stream()) {
            complete(&self.dispatcher, running.lease, running.permit);
        }
        if let Some(running) = self.running.as_ref().filter(|running| !running.lease.is_at_hand()) {
            running.permit.responds(stream);
        }
    }
}

/// The response is over: its connection can carry another.
fn complete(dispatcher: &Dispatcher, lease: Lease, permit: Permit) {
    let most = dispatcher.admission.driver.borrow().policy().places() as usize;
    dispatcher.pool.give_back(lease, most);
    drop(permit);
}

/// Ends a response whose client has gone. If the rest of it is there already the connection is kept; otherwise it is
/// closed, and the server sees that it need not go on.
pub(crate) fn abandon(dispatcher: &Dispatcher, mut lease: Lease, permit: Permit) {
    let mut cx = Context::from_waker(Waker::noop());
    let mut left = UNWANTED;
    loop {
        let Poll::Ready(frame) = lease.poll_frame(&mut cx) else { return };
        let length = match frame {
            None => break,
            Some(Ok(frame)) => frame.data_ref().map_or(0, Bytes::len),
            Some(Err(_)) => return,
        };
        let Some(rest) = left.checked_sub(length) else { return };
        left = rest;
    }
    complete(dispatcher, lease, permit);
}

impl http_body::Body for Relay {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let relay = &mut *self;
        let Some(running) = &mut relay.running else { return Poll::Ready(None) };
        match running.lease.poll_frame(cx) {
            Poll::Pending => {
                running.permit.is_silent();
                relay.client.waits(Awaited::Answer, relay.dispatcher.admission.clock.last());
                Poll::Pending
            }
            Poll::Ready(mut frame) => {
                relay.client.over(Awaited::Answer);
                match &mut frame {
                    Some(Ok(frame)) => {
                        if let Some(trailers) = frame.trailers_mut() {
                            hop_by_hop::trailers(trailers);
                        }
                        relay.go_on(Stream::Unknown);
                    }
                    None => {
                        if let Some(Running { lease, permit }) = relay.running.take() {
                            complete(&relay.dispatcher, lease, permit);
                        }
                    }
                    Some(Err(_)) => {
                        if let Some(running) = relay.running.take() {
                            relay.dispatcher.pool.failed(running.lease.server(), &Failure::CutShort);
                        }
                    }
                }
                // The client sees it too: its connection is closed, or its stream reset, before the promised end.
                Poll::Ready(frame)
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.running.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        self.running.as_ref().map_or_else(|| SizeHint::with_exact(0), |running| running.lease.size_hint())
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.client.over(Awaited::Answer);
        let Some(Running { lease, permit }) = self.running.take() else { return };
        self.dispatcher
            .admission
            .driver
            .borrow_mut()
            .abort(self.dispatcher.admission.clock.read(), permit.id());
        abandon(&self.dispatcher, lease, permit);
    }
}
