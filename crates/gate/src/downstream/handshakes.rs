//! [`Handshakes`]: how much of the thread's time goes into TLS handshakes.

use std::cell::Cell;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

use tokio::sync::Semaphore;

/// A handshake costs up to a millisecond of arithmetic, and all other clients wait meanwhile. So there is
/// one in so many turns of the event loop, as a request takes from its head to its response: in a flood
/// of handshakes it has to wait for one or two. Turns in which there is nothing to do cost next
/// to nothing.
#[derive(Debug)]
pub(crate) struct Handshakes {
    turn: Semaphore,
    waiting: Cell<usize>,
    done: Cell<u64>,
    failed: Cell<u64>,
    turned_away: Cell<u64>,
}

/// Head, decision, dispatch, and the server's response.
const TURNS: usize = 4;

/// Clients that wait for more than this many others would have given up before their turn.
const MAX_WAITING: usize = 512;

/// The counts of [`Handshakes`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Counts {
    pub(crate) done: u64,
    /// Garbage, no common version or suite, an unknown name, or a client that went away.
    pub(crate) failed: u64,
    /// Closed because too many were waiting.
    pub(crate) turned_away: u64,
}

impl Default for Handshakes {
    fn default() -> Self {
        Self {
            turn: Semaphore::new(1),
            waiting: Cell::new(0),
            done: Cell::new(0),
            failed: Cell::new(0),
            turned_away: Cell::new(0),
        }
    }
}

impl Handshakes {
    /// Runs a handshake whose next step is the arithmetic. `None` when it fails or too many wait.
    pub(crate) async fn run<T, E>(
        &self,
        mut handshake: impl Future<Output = Result<T, E>> + Unpin,
    ) -> Option<T> {
        if self.waiting.get() >= MAX_WAITING {
            self.turned_away.set(self.turned_away.get() + 1);
            return None;
        }
        let turn = {
            let _waiting = Waiting::begin(&self.waiting);
            self.turn.acquire().await.ok()?
        };
        let first = poll_fn(|cx| Poll::Ready(Pin::new(&mut handshake).poll(cx))).await;
        for _ in 0..TURNS {
            tokio::task::yield_now().await;
        }
        drop(turn);
        let result = match first {
            Poll::Ready(result) => result,
            Poll::Pending => handshake.await,
        };
        match result {
            Ok(_) => self.done.set(self.done.get() + 1),
            Err(_) => self.fail(),
        }
        result.ok()
    }

    /// A connection ended before there was anything to compute.
    pub(crate) fn fail(&self) {
        self.failed.set(self.failed.get() + 1);
    }

    pub(crate) fn counts(&self) -> Counts {
        Counts { done: self.done.get(), failed: self.failed.get(), turned_away: self.turned_away.get() }
    }
}

/// Counts one that waits, until it no longer does or its connection is closed.
struct Waiting<'a>(&'a Cell<usize>);

impl<'a> Waiting<'a> {
    fn begin(count: &'a Cell<usize>) -> Self {
        count.set(count.get() + 1);
        Self(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}
