//! [`Filter`]: stands between a socket and hyper, and lets pass what is well-formed.

use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use http1::request::{self, Limits, Stop};
use hyper::rt::ReadBufCursor;
use tokio::io::{AsyncRead, ReadBuf};

use crate::strict::strictness::Strictness;

/// What of a client's bytes goes to hyper.
#[derive(Debug)]
pub(crate) struct Filter {
    shared: Rc<Strictness>,
    filter: request::Filter,
}

impl Filter {
    pub(crate) fn new(shared: Rc<Strictness>, limits: Limits) -> Self {
        Self { shared, filter: request::Filter::new(limits) }
    }

    /// Reads from `socket` until there is something to pass on, or the end; so many requests are
    /// `answered`.
    pub(crate) fn poll_read(
        &mut self,
        mut socket: Pin<&mut impl AsyncRead>,
        cx: &mut Context<'_>,
        to: &mut ReadBufCursor<'_>,
        answered: u64,
    ) -> Poll<io::Result<()>> {
        self.look(|filter| filter.answered(answered));
        loop {
            if self.pass_on(to) {
                return Poll::Ready(Ok(()));
            }
            if self.filter.waits() {
                // What has come is enough to wait with; the answer wakes the task.
                return Poll::Pending;
            }
            match self.filter.stop() {
                // hyper takes an end for the client's and would drop the answers under way. The
                // task looks for a stop itself.
                Some(Stop::Head(..)) => return Poll::Pending,
                Some(Stop::Body(_)) => return Poll::Ready(Ok(())),
                None => {}
            }
            let shared = Rc::clone(&self.shared);
            let mut scratch = shared.scratch.borrow_mut();
            let most = to.remaining().min(scratch.len());
            let mut piece = ReadBuf::new(&mut scratch[..most]);
            ready!(socket.as_mut().poll_read(cx, &mut piece))?;
            let piece = piece.filled();
            if piece.is_empty() {
                return Poll::Ready(Ok(()));
            }
            let good = self.look(|filter| filter.take(piece));
            if good > 0 {
                to.put_slice(&piece[..good]);
                return Poll::Ready(Ok(()));
            }
        }
    }

    /// Has the filter look at bytes, and counts what it finds.
    fn look<T>(&mut self, look: impl FnOnce(&mut request::Filter) -> T) -> T {
        let known = self.filter.breach().is_some();
        let found = look(&mut self.filter);
        if let Some(breach) = self.filter.breach().filter(|_| !known) {
            self.shared.count(breach);
        }
        found
    }

    /// Passes on what is ready, as far as there is room.
    fn pass_on(&mut self, to: &mut ReadBufCursor<'_>) -> bool {
        let ready = self.filter.ready();
        let passed = ready.len().min(to.remaining());
        if passed > 0 {
            to.put_slice(&ready[..passed]);
            self.filter.passed(passed);
        }
        passed > 0
    }

    /// Why nothing more is passed on, if it is so.
    pub(crate) fn stop(&self) -> Option<Stop> {
        self.filter.stop()
    }

    /// Whether more has come than can be understood before the last request is answered.
    pub(crate) fn waits(&self) -> bool {
        self.filter.waits()
    }

    /// What has come and was not passed on.
    pub(crate) fn into_held(self) -> Vec<u8> {
        self.filter.into_held()
    }

    /// Whether all that has come was passed on, and belongs to requests that have come as a whole.
    pub(crate) fn is_between_requests(&self) -> bool {
        self.filter.is_between_requests()
    }

    /// Whether the body of a request comes next.
    pub(crate) fn is_in_body(&self) -> bool {
        self.filter.is_in_body()
    }

    /// Whether part of a head has come, and not all of it.
    pub(crate) fn is_in_head(&self) -> bool {
        self.filter.is_in_head()
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use http1::request::Breach;

    use super::*;

    #[test]
    fn what_follows_a_request_for_an_upgrade_waits_for_the_answer() {
        let mut filter = Filter::new(Rc::new(Strictness::default()), Limits::default());
        let request = b"GET / HTTP/1.1\r\nHost: t\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n";
        let all = [&request[..], request, b"\0\xff"].concat();
        let mut socket = &all[..];
        let mut read = |answered| {
            let mut buffer = [0; 1024];
            let mut to = hyper::rt::ReadBuf::new(&mut buffer);
            let mut cx = Context::from_waker(Waker::noop());
            let _ = filter.poll_read(Pin::new(&mut socket), &mut cx, &mut to.unfilled(), answered);
            (to.filled().to_vec(), filter.stop())
        };
        assert_eq!(read(0), (request.to_vec(), None));
        assert_eq!(read(0), (Vec::new(), None));
        assert_eq!(read(1), (request.to_vec(), None));
        assert_eq!(read(1), (Vec::new(), None));
        assert_eq!(read(2), (Vec::new(), Some(Stop::Head(Breach::RequestLine, 2))));
    }
}
