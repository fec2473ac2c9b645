//! [`Slot`]: a connection that was handed over.

use core::sync::atomic::{AtomicU8, AtomicU32, Ordering};

use crate::message::{Address, MAX_ADDRESS};

/// The longest line that is inserted into a response, with its line feed.
pub const MAX_LINE: usize = 474;

/// What the server does on a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum State {
    /// The slot belongs to no connection.
    Free = 0,
    /// A request has its place.
    Busy = 1,
    /// It is kept, without a request.
    Idle = 2,
    /// A request waits for its place, with the gate.
    Parked = 3,
    /// The gate has answered in place of the server, and ended the connection.
    Refused = 4,
    /// The server has closed it.
    Gone = 5,
    /// No connection has it yet: it is for the next that a process accepts itself.
    Ready = 6,
    /// It is kept, without a request, and its process waits for nothing but the next.
    Alone = 7,
    /// As [`Self::Alone`], and its process was sent another in its place.
    Recalled = 8,
    /// To the server it is at its end: the gate has it again.
    GivenBack = 9,
}

impl State {
    /// Whether the server has done with it: it has closed it, or has given it back.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Gone | Self::GivenBack)
    }

    fn of(word: u32) -> Self {
        match word {
            1 => Self::Busy,
            2 => Self::Idle,
            3 => Self::Parked,
            4 => Self::Refused,
            5 => Self::Gone,
            6 => Self::Ready,
            7 => Self::Alone,
            8 => Self::Recalled,
            9 => Self::GivenBack,
            _ => Self::Free,
        }
    }
}

/// A connection that was handed over.
#[derive(Debug)]
#[repr(C, align(8))]
pub struct Slot {
    /// A [`State`]; threads wait for it to change (futex(2)).
    pub word: AtomicU32,
    /// Whether the next request may begin without being asked about while there are places.
    may_begin: AtomicU8,
    taken: AtomicU8,
    length: AtomicU8,
    longer: AtomicU8,
    /// A line that goes behind the status line of the next response.
    line: [AtomicU8; MAX_LINE],
    /// Whether a thread sleeps until the word is another.
    sleeps: AtomicU8,
    /// What wakes the thread that waits for the next request, one more than its number; 0 where the inbox of its process does.
    waker: AtomicU8,
    /// Whose it is, of one that a process has accepted itself: as in [`Address`].
    client_length: AtomicU8,
    client: [AtomicU8; MAX_ADDRESS],
}

impl Slot {
    /// What the server does on it.
    pub fn state(&self) -> State {
        State::of(self.word.load(Ordering::Acquire))
    }

    /// Whether its word is one that the slot of a connection has that a process was given.
    pub fn may_be_given(&self) -> bool {
        (State::Busy as u32..=State::GivenBack as u32).contains(&self.word.load(Ordering::Acquire))
    }

    /// From now on it does this.
    pub fn set(&self, state: State) {
        self.word.store(state as u32, Ordering::Release);
    }

    /// From one state to another; whether it was in the first.
    pub fn change(&self, from: State, to: State) -> bool {
        self.word.compare_exchange(from as u32, to as u32, Ordering::SeqCst, Ordering::Acquire).is_ok()
    }

    /// Whether the next request may begin without being asked about while there are places.
    pub fn set_may_begin(&self, may_begin: bool) {
        self.may_begin.store(may_begin.into(), Ordering::Relaxed);
    }

    /// Whether it may.
    pub fn may_begin(&self) -> bool {
        self.may_begin.load(Ordering::Relaxed) != 0
    }

    /// A thread sleeps until [`Self::word`] is another, or does not any more.
    pub fn set_sleeps(&self, sleeps: bool) {
        self.sleeps.store(sleeps.into(), Ordering::SeqCst);
    }

    /// Whether one does, which has to be woken.
    pub fn sleeps(&self) -> bool {
        self.sleeps.load(Ordering::SeqCst) != 0
    }

    /// What wakes the thread that waits for its next request; nothing where the inbox of its process does.
    pub fn set_waker(&self, number: Option<usize>) {
        let one_more = number.and_then(|number| u8::try_from(number + 1).ok()).unwrap_or_default();
        self.waker.store(one_more, Ordering::Relaxed);
    }

    /// What that is.
    pub fn waker(&self) -> Option<usize> {
        self.waker.load(Ordering::Relaxed).checked_sub(1).map(usize::from)
    }

    /// Whether a process has received the connection.
    pub fn is_taken(&self) -> bool {
        self.taken.load(Ordering::Acquire) != 0
    }

    /// A process has received it, or is to be given it.
    pub fn set_taken(&self, is_taken: bool) {
        self.taken.store(is_taken.into(), Ordering::Release);
    }

    /// Whose connection it is.
    pub fn set_client(&self, client: &Address) {
        let bytes = self.client.iter().zip(client.bytes);
        bytes.for_each(|(place, byte)| place.store(byte, Ordering::Relaxed));
        self.client_length.store(client.length, Ordering::Release);
    }

    /// Whose connection it is, if it is one that a process has accepted itself.
    pub fn client(&self) -> Address {
        let length = self.client_length.load(Ordering::Acquire);
        let mut bytes = [0; MAX_ADDRESS];
        bytes.iter_mut().zip(&self.client).for_each(|(byte, place)| *byte = place.load(Ordering::Relaxed));
        Address { bytes, length }
    }

    /// The next response is to have this line, with its end; whether there is room for it.
    pub fn set_line(&self, line: &[u8]) -> bool {
        let fits = line.len() <= MAX_LINE;
        let line = if fits { line } else { &[] };
        self.line.iter().zip(line).for_each(|(place, byte)| place.store(*byte, Ordering::Relaxed));
        let [low, high] = (line.len() as u16).to_le_bytes();
        self.length.store(low, Ordering::Relaxed);
        self.longer.store(high, Ordering::Release);
        fits
    }

    /// Copies the line; gives how long it is.
    pub fn copy_line(&self, into: &mut [u8; MAX_LINE]) -> usize {
        let length =
            u16::from_le_bytes([self.length.load(Ordering::Acquire), self.longer.load(Ordering::Acquire)]);
        let length = usize::from(length).min(MAX_LINE);
        let bytes = into.iter_mut().zip(&self.line[..length]);
        bytes.for_each(|(byte, place)| *byte = place.load(Ordering::Relaxed));
        length
    }

    /// The line has been inserted.
    pub fn drop_line(&self) {
        self.set_line(&[]);
    }

    /// Whether there is a line.
    pub fn has_line(&self) -> bool {
        self.length.load(Ordering::Relaxed) != 0 || self.longer.load(Ordering::Relaxed) != 0
    }
}
