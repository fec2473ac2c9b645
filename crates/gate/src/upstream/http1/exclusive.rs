//! [`Exclusive`]: a connection of HTTP/1.1 that carries a request.

use std::io;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Frame, SizeHint};

use crate::upstream::http1::bare::Bare;
use crate::upstream::http1::full::Full;
use crate::upstream::http1::idle::Idle;

/// A connection that carries a request.
#[derive(Debug)]
pub(crate) enum Exclusive {
    Bare(Bare),
    Full(Full),
}

impl Exclusive {
    /// The next piece of the response's body.
    pub(crate) fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        match self {
            Self::Bare(bare) => bare.poll_frame(cx),
            Self::Full(full) => full.poll_frame(cx),
        }
    }

    /// Whether the response's body is over, as far as that is known without reading on.
    pub(crate) fn is_end_stream(&self) -> bool {
        match self {
            Self::Bare(bare) => bare.is_end_stream(),
            Self::Full(full) => full.is_end_stream(),
        }
    }

    pub(crate) fn size_hint(&self) -> SizeHint {
        match self {
            Self::Bare(bare) => bare.size_hint(),
            Self::Full(full) => full.size_hint(),
        }
    }

    /// The connection for another request, now that the response is over; none if it cannot carry
    /// one.
    pub(crate) fn settle(self) -> Option<Idle> {
        match self {
            Self::Bare(bare) => bare.settle(),
            Self::Full(full) => full.settle(),
        }
    }
}
