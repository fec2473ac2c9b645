//! What heads are written to and read to, by one connection after the other: what was in use a moment ago is in the
//! processor's cache, and what a connection keeps for its next request is not.

use std::cell::Cell;
use std::io;
use std::mem::take as take_out;
use std::pin::pin;
use std::task::{Context, Poll};

use bytes::BytesMut;
use tokio::io::AsyncReadExt as _;

use crate::upstream::tls::Transport;

/// What is read at once of a head: most responses as a whole.
const FIRST: usize = 8 * 1024;

thread_local! {
    static SCRATCH: Cell<BytesMut> = Cell::default();
}

/// Room for a head; empty.
pub(super) fn take() -> BytesMut {
    let mut buffer = SCRATCH.take();
    buffer.reserve(FIRST);
    buffer
}

/// For the next who needs it. What was split off is still its owner's.
pub(super) fn give_back(mut buffer: BytesMut) {
    buffer.clear();
    SCRATCH.set(buffer);
}

/// Reads on; `buffer` has what has come, and no room of its own while that is nothing.
pub(super) fn poll_read(
    transport: &mut Transport,
    buffer: &mut BytesMut,
    cx: &mut Context<'_>,
) -> Poll<io::Result<usize>> {
    if buffer.is_empty() {
        *buffer = take();
    } else {
        buffer.reserve(FIRST);
    }
    let read = pin!(transport.read_buf(buffer)).poll(cx);
    if read.is_pending() && buffer.is_empty() {
        give_back(take_out(buffer));
    }
    read
}
