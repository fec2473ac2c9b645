//! [`Body`]: the body of a request on its way from the client to the upstream.

use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Frame, SizeHint};
use hyper::body::Incoming;

use crate::client::Client;
use crate::clock::Clock;

/// The body of a request. Reading it is what makes hyper send `100 Continue`, so a client that
/// asked first is answered when it is admitted, and not before.
#[derive(Debug)]
pub(crate) struct Body(Option<Upload>);

#[derive(Debug)]
struct Upload {
    incoming: Incoming,
    client: Rc<Client>,
    clock: Rc<Clock>,
}

impl Body {
    pub(crate) const EMPTY: Self = Self(None);

    pub(crate) fn new(incoming: Incoming, client: &Rc<Client>, clock: &Rc<Clock>) -> Self {
        if http_body::Body::is_end_stream(&incoming) {
            return Self::EMPTY;
        }
        Self(Some(Upload { incoming, client: Rc::clone(client), clock: Rc::clone(clock) }))
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let Some(upload) = &mut self.0 else { return Poll::Ready(None) };
        let frame = Pin::new(&mut upload.incoming).poll_frame(cx);
        if frame.is_pending() {
            upload.client.uploading.waits(upload.clock.last());
        }
        let frame = ready!(frame);
        upload.client.uploading.moved();
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.0.as_ref().is_none_or(|upload| upload.incoming.is_end_stream())
    }

    fn size_hint(&self) -> SizeHint {
        self.0.as_ref().map_or_else(|| SizeHint::with_exact(0), |upload| upload.incoming.size_hint())
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        self.client.uploading.moved();
    }
}
