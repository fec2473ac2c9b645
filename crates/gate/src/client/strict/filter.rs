//! [`Filter`]: stands between a socket and hyper, and lets pass what the [`Screen`] has seen to be
//! well-formed.

use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use hyper::rt::ReadBufCursor;
use tokio::io::{AsyncRead, ReadBuf};

use super::screen::Screen;
use super::{Breach, Limits, Strictness};

/// What was read of a connection and not yet passed on: of a head, all comes at once.
#[derive(Debug)]
pub(crate) struct Filter {
    shared: Rc<Strictness>,
    screen: Screen,
    /// Empty unless a head came in pieces, or is larger than what hyper asked for.
    held: Vec<u8>,
    /// Of `held`, what may be passed on.
    good: usize,
    /// Whether `held` may be of another protocol.
    waits: bool,
}

/// Why nothing more is passed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// A head is malformed: after so many requests, whose answers come first.
    Head(Breach, u64),
    /// A body is: the request it belongs to cannot be met.
    Body(Breach),
}

impl Filter {
    pub(crate) fn new(shared: Rc<Strictness>, limits: Limits) -> Self {
        Self { shared, screen: Screen::new(limits), held: Vec::new(), good: 0, waits: false }
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
        self.screen.decide(answered);
        loop {
            if self.pass_on(to) {
                return Poll::Ready(Ok(()));
            }
            if self.waits {
                if self.screen.is_undecided() {
                    // What has come is enough to wait with; the answer wakes the task.
                    return Poll::Pending;
                }
                self.look(0);
                continue;
            }
            match self.stop() {
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
            if piece.filled().is_empty() || self.take(piece.filled(), to) {
                return Poll::Ready(Ok(()));
            }
        }
    }

    /// Looks at what was read, and passes on what is good; false when there is nothing.
    fn take(&mut self, piece: &[u8], to: &mut ReadBufCursor<'_>) -> bool {
        if !self.held.is_empty() {
            let before = self.held.len() - self.good;
            self.held.extend_from_slice(piece);
            self.look(before);
            return self.pass_on(to);
        }
        let good = self.screen.read(piece, 0);
        to.put_slice(&piece[..good]);
        self.held.extend_from_slice(&piece[good..]);
        self.note();
        good > 0
    }

    /// Looks at what is held and not yet good; `fresh` bytes of that were looked at before.
    fn look(&mut self, fresh: usize) {
        self.good += self.screen.read(&self.held[self.good..], fresh);
        self.note();
    }

    fn note(&mut self) {
        if let Some(breach) = self.screen.breach() {
            self.held.truncate(self.good);
            self.shared.count(breach);
        }
        self.waits = self.screen.is_undecided() && self.held.len() > self.good;
    }

    /// Passes on what is good of what is held.
    fn pass_on(&mut self, to: &mut ReadBufCursor<'_>) -> bool {
        let passed = self.good.min(to.remaining());
        if passed == 0 {
            return false;
        }
        to.put_slice(&self.held[..passed]);
        self.good -= passed;
        if passed == self.held.len() {
            // Seldom needed, so nothing is kept for the next time.
            self.held = Vec::new();
        } else {
            self.held.drain(..passed);
        }
        true
    }

    /// Why nothing more is passed on, if it is so.
    pub(crate) fn stop(&self) -> Option<Stop> {
        let breach = self.screen.breach().filter(|_| self.good == 0)?;
        Some(match self.screen.is_in_body() {
            true => Stop::Body(breach),
            false => Stop::Head(breach, self.screen.heads()),
        })
    }

    /// Requests whose head has passed.
    #[cfg(any(test, feature = "fuzz"))]
    pub(super) fn requests(&self) -> u64 {
        self.screen.heads()
    }

    /// Whether more has come than can be understood before the last request is answered.
    pub(crate) fn waits(&self) -> bool {
        self.waits
    }

    /// What has come and was not passed on.
    pub(crate) fn into_held(self) -> Vec<u8> {
        self.held
    }

    /// Whether all that has come was passed on, and belongs to requests that have come as a whole.
    pub(crate) fn is_between_requests(&self) -> bool {
        self.held.is_empty() && self.screen.is_between_requests()
    }

    /// Whether part of a head has come, and not all of it.
    pub(crate) fn is_in_head(&self) -> bool {
        self.screen.is_in_head(self.held.len() - self.good)
    }
}
