//! [`Received`]: the body that comes on a stream of HTTP/2.

use std::task::{Context, Poll, ready};

use bytes::Bytes;
use h2::RecvStream;
use http::HeaderMap;
use http::header::CONTENT_LENGTH;
use http_body::{Frame, SizeHint};

/// The body that comes on a stream of HTTP/2.
#[derive(Debug)]
pub(crate) struct Received {
    stream: RecvStream,
    /// Bytes that are still to come, if the head says how many.
    left: Option<u64>,
    /// Whether only trailers can follow.
    data_is_over: bool,
}

impl Received {
    /// The body that follows a head with these headers.
    pub(crate) fn new(stream: RecvStream, headers: &HeaderMap) -> Self {
        let length = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
        Self { stream, left: length, data_is_over: false }
    }

    /// The next piece of it. What is taken makes room for more.
    pub(crate) fn poll_frame(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, h2::Error>>> {
        if !self.data_is_over {
            match ready!(self.stream.poll_data(cx)) {
                Some(Ok(data)) => {
                    self.left = self.left.map(|left| left.saturating_sub(data.len() as u64));
                    // It fails only where more is released than has come.
                    let _ = self.stream.flow_control().release_capacity(data.len());
                    return Poll::Ready(Some(Ok(Frame::data(data))));
                }
                Some(Err(why)) => return Poll::Ready(Some(Err(why))),
                None => self.data_is_over = true,
            }
        }
        let trailers = ready!(self.stream.poll_trailers(cx));
        Poll::Ready(trailers.transpose().map(|trailers| trailers.map(Frame::trailers)))
    }

    /// Whether it is over, as far as that is known without reading on.
    pub(crate) fn is_end_stream(&self) -> bool {
        self.stream.is_end_stream()
    }

    /// How long it is.
    pub(crate) fn size_hint(&self) -> SizeHint {
        self.left.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}
