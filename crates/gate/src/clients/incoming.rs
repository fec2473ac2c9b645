//! [`Incoming`]: the body of a request as it comes from its client.

use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use h2::RecvStream;
use http::{Response, StatusCode};
use http_body::{Body, Frame, SizeHint};

use crate::clients::client::Client;

/// The body of a request as it comes from its client.
#[derive(Debug)]
pub(crate) enum Incoming {
    /// Over HTTP/1.
    Http1(hyper::body::Incoming),
    /// Over HTTP/2.
    Http2(Received),
}

/// How a client broke off its request.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BrokenOff {
    #[error(transparent)]
    Http1(hyper::Error),
    #[error(transparent)]
    Http2(h2::Error),
}

/// A body on a stream of HTTP/2.
#[derive(Debug)]
pub(crate) struct Received {
    stream: RecvStream,
    /// Bytes that are still to come, if the head says how many.
    left: Option<u64>,
    /// Whether only trailers can follow.
    data_is_over: bool,
    /// Who is to be told to go on before it is waited for (RFC 9110 section 10.1.1).
    asks: Option<Rc<Client>>,
}

impl Received {
    /// The body that follows a head, of so many bytes if the head says so; from a client that `asks` whether to send it.
    pub(crate) fn new(stream: RecvStream, length: Option<u64>, asks: Option<Rc<Client>>) -> Self {
        Self { stream, left: length, data_is_over: false, asks }
    }

    fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, h2::Error>>> {
        if let Some(client) = self.asks.take() {
            client.go_on();
        }
        if !self.data_is_over {
            if let Some(data) = ready!(self.stream.poll_data(cx)) {
                return Poll::Ready(Some(data.map(|data| self.take(data))));
            }
            self.data_is_over = true;
        }
        let trailers = ready!(self.stream.poll_trailers(cx));
        Poll::Ready(trailers.transpose().map(|trailers| trailers.map(Frame::trailers)))
    }

    /// What is taken makes room for more.
    fn take(&mut self, data: Bytes) -> Frame<Bytes> {
        self.left = self.left.map(|left| left.saturating_sub(data.len() as u64));
        // It fails only where more is released than has come.
        let _ = self.stream.flow_control().release_capacity(data.len());
        Frame::data(data)
    }
}

impl Client {
    /// Tells the client to send the body of its request, if it has not been answered yet.
    fn go_on(&self) {
        if !self.responded.get() {
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
            Self::Http2(body) => {
                body.poll_frame(cx).map(|frame| frame.map(|frame| frame.map_err(BrokenOff::Http2)))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Http1(body) => body.is_end_stream(),
            Self::Http2(body) => body.stream.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Http1(body) => body.size_hint(),
            Self::Http2(body) => body.left.map_or_else(SizeHint::default, SizeHint::with_exact),
        }
    }
}
