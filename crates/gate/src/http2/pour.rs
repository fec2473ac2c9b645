//! [`pour`]: sending a body on a stream of HTTP/2.

use std::future::poll_fn;
use std::pin::pin;
use std::task::{Poll, ready};

use bytes::Buf;
use h2::SendStream;
use http_body::{Body, Frame};

/// Sends a body as the other side makes room for it; `end` makes the empty piece that ends it, where it ends with none.
///
/// # Errors
/// What is wrong with the body: the stream is to be reset. That the other side takes no more is not an error.
pub(crate) async fn pour<B: Body>(
    body: B,
    to: &mut SendStream<B::Data>,
    end: impl FnOnce() -> B::Data,
) -> Result<(), B::Error>
where
    B::Data: Buf,
{
    let mut body = pin!(body);
    let mut end = Some(end);
    // No room is asked for before there is something to send: it would be kept from other streams.
    let mut next: Option<(B::Data, bool)> = None;
    poll_fn(|cx| {
        loop {
            if to.poll_reset(cx).is_ready() {
                return Poll::Ready(Ok(()));
            }
            while next.is_some() && to.capacity() == 0 {
                if !matches!(ready!(to.poll_capacity(cx)), Some(Ok(_))) {
                    return Poll::Ready(Ok(()));
                }
            }
            if let Some((piece, is_last)) = next.take() {
                if to.send_data(piece, is_last).is_err() || is_last {
                    return Poll::Ready(Ok(()));
                }
                continue;
            }
            match ready!(body.as_mut().poll_frame(cx)).map(|frame| frame.map(Frame::into_data)) {
                Some(Ok(Ok(piece))) => {
                    // Whether there is any room; h2 sees to the rest. What is empty needs none.
                    if piece.has_remaining() {
                        to.reserve_capacity(1);
                        next = Some((piece, body.is_end_stream()));
                    }
                    continue;
                }
                Some(Ok(Err(frame))) => {
                    // Nothing follows that would need it.
                    to.reserve_capacity(0);
                    let _ = to.send_trailers(frame.into_trailers().unwrap_or_default());
                }
                Some(Err(why)) => return Poll::Ready(Err(why)),
                None => {
                    if let Some(end) = end.take() {
                        let _ = to.send_data(end(), true);
                    }
                }
            }
            return Poll::Ready(Ok(()));
        }
    })
    .await
}
