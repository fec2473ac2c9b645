//! [`Unsent`]: responses that have been taken from the server and not by clients of HTTP/2.
//!
//! A stream keeps some of its response, so that the server is done with it sooner. All streams of
//! all connections could keep more than there is memory. So the sum has a bound; beyond it, each
//! connection has one piece on its way at a time, and a client that does take its responses gets
//! them whatever others do.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::{Context, Waker};

use bytes::{Buf, Bytes};
use policy::connections::{MemoryBudget, Share, Unblocked};

use crate::runtime::memory::Memory;

/// Of a response more is asked for when the client has made room for all it was given. So it is given no more
/// at once than a frame has by default (RFC 9113 section 4.2): a client that does not make room
/// for that much in time takes nothing.
pub(crate) const PIECE: usize = MemoryBudget::PIECE as usize;

/// What all connections keep.
#[derive(Debug)]
pub(crate) struct Unsent {
    memory: Memory,
    /// Connections with streams that wait.
    waiting: RefCell<Vec<Rc<Outbox>>>,
}

impl Unsent {
    pub(crate) fn new(memory: &Memory) -> Self {
        Self { memory: Rc::clone(memory), waiting: RefCell::default() }
    }

    /// Bytes that clients have not taken.
    pub(crate) fn bytes(&self) -> u64 {
        self.memory.borrow().taken(Share::Unsent)
    }
}

/// What one connection keeps.
#[derive(Debug)]
pub(crate) struct Outbox {
    all: Rc<Unsent>,
    bytes: Cell<usize>,
    waiting: RefCell<Vec<Waker>>,
    /// Whether it is among those with streams that wait.
    listed: Cell<bool>,
}

impl Outbox {
    pub(crate) fn new(all: &Rc<Unsent>) -> Rc<Self> {
        Rc::new(Self {
            all: Rc::clone(all),
            bytes: Cell::default(),
            waiting: RefCell::default(),
            listed: Cell::default(),
        })
    }

    /// Whether another piece can be kept; the task is woken when one can.
    pub(crate) fn has_room(self: &Rc<Self>, cx: &Context<'_>) -> bool {
        if self.all.memory.borrow_mut().may_keep(self.bytes.get() as u64) {
            return true;
        }
        let mut waiting = self.waiting.borrow_mut();
        if !waiting.iter().any(|waker| waker.will_wake(cx.waker())) {
            waiting.push(cx.waker().clone());
        }
        if !self.listed.replace(true) {
            self.all.waiting.borrow_mut().push(Rc::clone(self));
        }
        false
    }

    /// A piece to be sent.
    pub(crate) fn keep(self: &Rc<Self>, rest: Bytes) -> Piece {
        let length = rest.len();
        self.bytes.set(self.bytes.get() + length);
        self.all.memory.borrow_mut().keep(length as u64);
        Piece { rest, length, outbox: Rc::clone(self) }
    }

    fn give_back(&self, length: usize) {
        self.bytes.set(self.bytes.get() - length);
        let unblocked = self.all.memory.borrow_mut().unkeep(length as u64, self.bytes.get() as u64);
        match unblocked {
            Unblocked::None => {}
            Unblocked::This => self.wake(),
            Unblocked::All => {
                for outbox in self.all.waiting.take() {
                    outbox.listed.set(false);
                    outbox.wake();
                }
            }
        }
    }

    fn wake(&self) {
        self.waiting.take().into_iter().for_each(Waker::wake);
    }
}

/// A piece of a response, counted until the last of it has been written to the client.
#[derive(Debug)]
pub(crate) struct Piece {
    rest: Bytes,
    length: usize,
    outbox: Rc<Outbox>,
}

impl Buf for Piece {
    fn remaining(&self) -> usize {
        self.rest.remaining()
    }

    fn chunk(&self) -> &[u8] {
        self.rest.chunk()
    }

    fn advance(&mut self, bytes: usize) {
        self.rest.advance(bytes);
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        self.outbox.give_back(self.length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    #[derive(Default)]
    struct Woken(AtomicUsize);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn fill(outbox: &Rc<Outbox>, bytes: usize) -> Vec<Piece> {
        (0..bytes / PIECE).map(|_| outbox.keep(Bytes::from_static(&[0; PIECE]))).collect()
    }

    const MAX_BYTES: usize = MemoryBudget::MAX_BYTES as usize / 6;

    /// When this much is left, it is kept again.
    const AGAIN: usize = MAX_BYTES / 4 * 3;

    #[test]
    fn beyond_the_bound_each_connection_has_one_piece() {
        let all = Rc::new(Unsent::new(&Memory::default()));
        let [greedy, modest] = [(); 2].map(|()| Outbox::new(&all));
        let woken = Arc::<Woken>::default();
        let waker = Arc::clone(&woken).into();
        let cx = Context::from_waker(&waker);
        let times = || woken.0.swap(0, Ordering::Relaxed);
        assert!(greedy.has_room(&cx));
        let mut held = fill(&greedy, MAX_BYTES);
        assert_eq!(all.bytes() as usize, MAX_BYTES);
        assert!(!greedy.has_room(&cx) && !greedy.has_room(&cx));
        assert!(modest.has_room(&cx));
        let own = fill(&modest, PIECE);
        assert!(!modest.has_room(&cx));
        // Its own piece has gone: it need not wait for others.
        drop(own);
        assert_eq!(times(), 1);
        assert!(modest.has_room(&cx));
        // One that keeps much is woken when the sum has fallen, once.
        held.truncate(AGAIN / PIECE);
        assert_eq!(times(), 0);
        assert!(!greedy.has_room(&cx));
        held.pop();
        assert_eq!(times(), 1);
        assert!(greedy.has_room(&cx));
        drop(held);
        assert_eq!((all.bytes() as usize, times()), (0, 0));
    }

    #[test]
    fn a_connection_that_ends_leaves_nothing() {
        let all = Rc::new(Unsent::new(&Memory::default()));
        let outbox = Outbox::new(&all);
        let woken = Arc::<Woken>::default().into();
        let held = fill(&outbox, MAX_BYTES);
        assert!(!outbox.has_room(&Context::from_waker(&woken)));
        drop((held, outbox));
        assert_eq!((all.bytes() as usize, all.waiting.borrow().len()), (0, 0));
    }
}
