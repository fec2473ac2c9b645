//! [`Relay`]: the body of a response on its way from the upstream to the client.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Frame, SizeHint};
use http1::headers::hop_by_hop;
use policy::connections::Awaited;
use tokio::time::timeout;

use crate::admission::permit::Permit;
use crate::clients::client::Client;
use crate::dispatch::dispatcher::Dispatcher;
use crate::upstream::failure::Failure;
use crate::upstream::lease::Lease;

/// What is still read of a response whose client has gone. A longer one is cut off by closing the
/// connection, which costs the server less than writing it to the end.
const UNWANTED: usize = 1 << 20;

/// A response's body. The server is done with the request when it is over.
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
    ) -> Self {
        let running = Some(Running { lease, permit });
        let mut relay = Self { dispatcher: Rc::clone(dispatcher), client: Rc::clone(client), running };
        relay.end_if_over();
        relay
    }

    fn end_if_over(&mut self) {
        if let Some(running) = self.running.take_if(|running| running.lease.is_end_stream()) {
            complete(&self.dispatcher, running.lease, running.permit);
        }
    }
}

/// The response is over: its connection can carry another.
fn complete(dispatcher: &Dispatcher, lease: Lease, permit: Permit) {
    let most = dispatcher.admission.driver.borrow().policy().places() as usize;
    dispatcher.pool.give_back(lease, most);
    drop(permit);
}

/// Reads the rest of a response whose client has gone.
pub(crate) async fn see_to_the_end(dispatcher: &Dispatcher, mut lease: Lease, permit: Permit) {
    let reading = async {
        let mut left = UNWANTED;
        while let Some(frame) = poll_fn(|cx| lease.poll_frame(cx)).await {
            let length = frame.ok()?.data_ref().map_or(0, Bytes::len);
            left = left.checked_sub(length)?;
        }
        Some(())
    };
    if let Ok(Some(())) = timeout(dispatcher.pool.times().response, reading).await {
        complete(dispatcher, lease, permit);
    }
}

impl http_body::Body for Relay {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let relay = &mut *self;
        let Some(running) = &mut relay.running else { return Poll::Ready(None) };
        match running.lease.poll_frame(cx) {
            Poll::Pending => {
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
                        relay.end_if_over();
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
                // The client sees it too: hyper closes the connection before the promised end.
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
        let dispatcher = Rc::clone(&self.dispatcher);
        self.dispatcher.abandoned.add(Box::pin(async move {
            see_to_the_end(&dispatcher, lease, permit).await;
        }));
    }
}
