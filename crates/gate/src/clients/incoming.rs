//! [`Incoming`]: the body of a request as it comes from its client.

use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Response, StatusCode};
use http_body::{Body, Frame, SizeHint};

use crate::clients::client::Client;
use crate::http2::received::Received;

/// The body of a request as it comes from its client.
#[derive(Debug)]
pub(crate) enum Incoming {
    /// Over HTTP/1.
    Http1(hyper::body::Incoming),
    /// Over HTTP/2. Who asks whether to send it (RFC 9110 section 10.1.1), is told to when it is waited for.
    Http2 { body: Received, asks: Option<Rc<Client>> },
}

/// How a client broke off its request.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BrokenOff {
    #[error(transparent)]
    Http1(hyper::Error),
    #[error(transparent)]
    Http2(h2::Error),
}

impl Client {
    /// Tells the client to send the body of its request, if it has not been answered yet.
    fn go_on(&self) {
        if !self.has_response() {
            let mut go_on = Response::new(());
            *go_on.status_mut() = StatusCode::CONTINUE;
            self.interim.tell(go_on);
            self.task.wake();
        }
    }
}

impl Body for Incoming {
    type Data = Bytes;
    type Error = BrokenOff;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BrokenOff>>> {
        match self.get_mut() {
            Self::Http1(body) => {
                let frame = Pin::new(body).poll_frame(cx);
                frame.map(|frame| frame.map(|frame| frame.map_err(BrokenOff::Http1)))
            }
            Self::Http2 { body, asks } => {
                if let Some(client) = asks.take() {
                    client.go_on();
                }
                body.poll_frame(cx).map(|frame| frame.map(|frame| frame.map_err(BrokenOff::Http2)))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Http1(body) => body.is_end_stream(),
            Self::Http2 { body, .. } => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Http1(body) => body.size_hint(),
            Self::Http2 { body, .. } => body.size_hint(),
        }
    }
}
