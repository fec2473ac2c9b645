//! [`Reply`]: the body of a response to a client, and the gate's own short responses.

use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::StatusCode;
use http_body::{Frame, SizeHint};
use policy::connections::Phase;

use crate::clients::client::Client;
use crate::dispatch::relay::Relay;
use crate::observe::access_log::account::Account;
use crate::runtime::clock::Clock;

/// The body of a response. The connection is idle again when it has gone.
#[derive(Debug)]
pub(crate) struct Reply {
    content: Content,
    busy: Busy,
}

#[derive(Debug)]
#[allow(
    clippy::large_enum_variant,
    reason = "there is one for each response; a box would be an allocation for each"
)]
enum Content {
    Whole(Option<Bytes>),
    Relayed(Relay),
    /// So many bytes that do not come: the head speaks of what the client has (RFC 9110 section 15.4.5).
    Spoken(u64),
}

/// A connection with a request in hand.
#[derive(Debug)]
pub(crate) struct Busy {
    client: Rc<Client>,
    clock: Rc<Clock>,
    /// What becomes of the request.
    pub(crate) account: Account,
}

impl Busy {
    pub(crate) fn begin(client: &Rc<Client>, clock: &Rc<Clock>) -> Self {
        client.enter(Phase::Busy, clock.last());
        Self { client: Rc::clone(client), clock: Rc::clone(clock), account: Account::default() }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.account.asked(self.client.asked.take());
        if let Some(cause) = self.client.cause() {
            self.account.cut(cause.name());
            if self.client.hears_of_its_stall() {
                self.account.status(StatusCode::REQUEST_TIMEOUT);
            }
        }
        self.client.answered(self.clock.last());
    }
}

impl Reply {
    /// A response from the upstream.
    pub(crate) fn relayed(busy: Busy, relay: Relay) -> Self {
        Self { content: Content::Relayed(relay), busy }
    }

    /// A response that the gate has at hand.
    pub(crate) fn whole(busy: Busy, body: Bytes) -> Self {
        Self { content: Content::Whole(Some(body).filter(|body| !body.is_empty())), busy }
    }

    /// Leaves the body out, as for HEAD; hyper does so itself only for HTTP/1.
    pub(crate) fn leave_out(&mut self) {
        if let Content::Whole(body) = &mut self.content {
            *body = None;
        }
    }

    /// Says that so many bytes come, which do not. For hyper, which writes no length of a body that is not
    /// there, and no body with a 304.
    pub(crate) fn speak_of(&mut self, length: u64) {
        self.busy.account.complete();
        self.content = Content::Spoken(length);
    }

    /// What becomes of the request that this answers.
    pub(crate) fn account(&mut self) -> &mut Account {
        &mut self.busy.account
    }
}

impl http_body::Body for Reply {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let frame = match &mut self.content {
            Content::Whole(body) => Poll::Ready(body.take().map(|body| Ok(Frame::data(body)))),
            Content::Relayed(relay) => Pin::new(relay).poll_frame(cx),
            Content::Spoken(_) => Poll::Ready(None),
        };
        if let Poll::Ready(Some(Ok(frame))) = &frame {
            self.busy.account.sent(frame.data_ref().map_or(0, Bytes::len));
        }
        match &frame {
            Poll::Ready(Some(Err(_))) => self.busy.account.broken_off(),
            _ if self.is_end_stream() => self.busy.account.complete(),
            _ => {}
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        match &self.content {
            Content::Whole(body) => body.is_none(),
            Content::Relayed(relay) => relay.is_end_stream(),
            Content::Spoken(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.content {
            Content::Whole(body) => SizeHint::with_exact(body.as_ref().map_or(0, |body| body.len() as u64)),
            Content::Relayed(relay) => relay.size_hint(),
            Content::Spoken(length) => SizeHint::with_exact(*length),
        }
    }
}
