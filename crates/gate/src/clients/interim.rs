//! [`Interim`]: responses that go to a client before the one that it has asked for (RFC 9110 section 15.2).

use std::cell::{Cell, RefCell};
use std::task::Poll;

use bytes::Buf as _;
use http::response::Parts;
use http::{Response, StatusCode};
use http1::headers::hop_by_hop;

/// Interim responses that have not been written to the client.
#[derive(Debug, Default)]
pub(crate) struct Interim {
    /// Whole ones, but for the first.
    unwritten: RefCell<Vec<u8>>,
    /// Whether some of the first was written.
    begun: Cell<bool>,
    /// Those for a stream of HTTP/2, which has frames for them.
    untold: RefCell<Vec<Response<()>>>,
    /// How much has been told to it.
    told: Cell<usize>,
}

/// What is kept of them. They may be left out; a client that takes none does not get all.
const MAX_BYTES: usize = 64 * 1024;

impl Interim {
    /// Adds one, for a stream or a connection. That the gate's own request is to go on (100) and that a protocol changes
    /// (101) is not for the client.
    pub(super) fn add(&self, mut interim: Response<()>, of_stream: bool) {
        if matches!(interim.status(), StatusCode::CONTINUE | StatusCode::SWITCHING_PROTOCOLS) {
            return;
        }
        hop_by_hop::response(interim.headers_mut());
        if of_stream { self.tell(interim) } else { self.write_later(interim) }
    }

    /// Adds one for a stream.
    pub(super) fn tell(&self, interim: Response<()>) {
        let fields = interim.headers().iter().map(|(name, value)| name.as_str().len() + value.len());
        let told = self.told.get() + fields.sum::<usize>();
        if told <= MAX_BYTES {
            self.told.set(told);
            self.untold.borrow_mut().push(interim);
        }
    }

    /// Those for a stream, which are told now.
    pub(crate) fn take(&self) -> Vec<Response<()>> {
        self.untold.take()
    }

    fn write_later(&self, interim: Response<()>) {
        let (Parts { status, headers, .. }, ()) = interim.into_parts();
        let text =
            format!("HTTP/1.1 {} {}\r\n", status.as_u16(), status.canonical_reason().unwrap_or_default());
        let mut unwritten = self.unwritten.borrow_mut();
        let before = unwritten.len();
        unwritten.extend_from_slice(text.as_bytes());
        for (name, value) in &headers {
            for bytes in [name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"] {
                unwritten.extend_from_slice(bytes);
            }
        }
        unwritten.extend_from_slice(b"\r\n");
        if unwritten.len() > MAX_BYTES {
            unwritten.truncate(before);
        }
    }

    /// Whether there is something to write.
    pub(crate) fn has_unwritten(&self) -> bool {
        !self.unwritten.borrow().is_empty()
    }

    /// Whether there is something to tell.
    pub(crate) fn has_untold(&self) -> bool {
        !self.untold.borrow().is_empty()
    }

    /// Leaves out what has not been written: the connection ends.
    pub(crate) fn leave_out(&self) {
        self.unwritten.take();
    }

    /// Whether what is to be written next is the end of what was begun.
    pub(crate) fn is_begun(&self) -> bool {
        self.begun.get()
    }

    /// Has `write` write what there is: it gives how much it has written.
    pub(crate) fn write<E>(
        &self,
        write: impl FnOnce(&[u8]) -> Poll<Result<usize, E>>,
    ) -> Poll<Result<usize, E>> {
        let mut unwritten = self.unwritten.borrow_mut();
        let written = write(&unwritten);
        if let Poll::Ready(Ok(bytes)) = written {
            let mut rest = &unwritten[..];
            rest.advance(bytes);
            *unwritten = rest.to_vec();
            self.begun.set(!unwritten.is_empty());
        }
        written
    }
}
