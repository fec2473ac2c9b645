//! [`Process`]: a process of the server that uses a listener.

use std::cell::{Cell, RefCell};
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use handoff::channel;
use handoff::keeper::{Keeper, Role};
use handoff::memory;
use handoff::message::{Address, ToGate, ToServer, WAKERS};
use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, socketpair};
use tokio::io::Interest;
use tokio::net::UnixDatagram;

/// A process of the server that uses a listener.
#[derive(Debug)]
pub(super) struct Process {
    /// Which of [`Memory::processes`](memory::Memory::processes).
    pub(super) number: u16,
    pub(super) pid: i32,
    /// Of the listener that it uses (`SO_COOKIE`, socket(7)).
    pub(super) listener: u64,
    /// Slots that were prepared for it, and are not known to be of a connection.
    pub(super) prepared: Cell<usize>,
    words: &'static memory::Process,
    control: UnixDatagram,
    /// Where its connections go.
    inbox: OwnedFd,
    /// Its end of that, so that what it has not taken when it ends can be taken back.
    other_end: OwnedFd,
    keeper: Option<&'static Keeper>,
    /// Parked connections whose state is another, of which there was no room to tell it.
    unsent: RefCell<Vec<u32>>,
    /// What wakes its threads.
    wakers: RefCell<[Option<OwnedFd>; WAKERS]>,
    /// How many it was given.
    given: Cell<i64>,
    /// How many of them it had taken when it had not taken all, and since when.
    taken: Cell<Option<(i64, Instant)>>,
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Some(keeper) = self.keeper {
            keeper.set(self.control.as_raw_fd(), Role::None);
            keeper.set(self.other_end.as_raw_fd(), Role::None);
        }
    }
}

/// From where the processes of a listener get what waited in a gate that was killed; nothing is in it before.
#[derive(Debug)]
pub(super) struct Left {
    pub(super) to: OwnedFd,
    from: OwnedFd,
    keeper: Option<&'static Keeper>,
}

impl Drop for Left {
    fn drop(&mut self) {
        if let Some(keeper) = self.keeper {
            keeper.set(self.from.as_raw_fd(), Role::None);
            keeper.set(self.to.as_raw_fd(), Role::None);
        }
    }
}

impl Left {
    /// Of the listener with this port.
    pub(super) fn make(port: u16, keeper: Option<&'static Keeper>) -> io::Result<Self> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let (to, from) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
        if let Some(keeper) = keeper {
            keeper.set(from.as_raw_fd(), Role::Left { to: to.as_raw_fd(), port });
            keeper.set(to.as_raw_fd(), Role::Sends);
        }
        Ok(Self { to, from, keeper })
    }
}

/// What a process says.
pub(super) type Said = (Option<ToGate>, Option<OwnedFd>);

impl Process {
    /// Answers one that says which listener it uses.
    pub(super) fn attach(
        control: UnixDatagram,
        (number, pid, listener): (u16, i32, u64),
        words: &'static memory::Process,
        (shared, left): (BorrowedFd<'_>, &Left),
        keeper: Option<&'static Keeper>,
    ) -> io::Result<Self> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let (inbox, other_end) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
        words.begin();
        let attached = ToServer::Attached { process: number }.to_bytes();
        channel::send(&control, &attached, &[shared, other_end.as_fd(), left.from.as_fd()])?;
        if let Some(keeper) = keeper {
            keeper.set(control.as_raw_fd(), Role::Control { to: left.to.as_raw_fd() });
            keeper.set(other_end.as_raw_fd(), Role::Inbox { to: left.to.as_raw_fd() });
        }
        Ok(Self {
            number,
            pid,
            listener,
            prepared: Cell::new(0),
            words,
            control,
            inbox,
            other_end,
            keeper,
            wakers: RefCell::default(),
            unsent: RefCell::default(),
            given: Cell::new(0),
            taken: Cell::new(None),
        })
    }

    /// What it says next; nothing once it is gone.
    pub(super) async fn says(&self) -> Option<Said> {
        let said = self.control.async_io(Interest::READABLE, || channel::receive(&self.control)).await;
        let said = said.ok().filter(|said| !said.bytes().is_empty())?;
        Some((ToGate::read(said.bytes()), said.into_beside()))
    }

    /// What is said of it in the memory that is shared.
    pub(super) fn words(&self) -> &'static memory::Process {
        self.words
    }

    /// Whether it waits for a connection.
    pub(super) fn is_willing(&self) -> bool {
        self.words.is_willing()
    }

    /// Gives it a connection; whether there was room.
    pub(super) fn give(
        &self,
        slot: u32,
        is_opaque: bool,
        peer: SocketAddr,
        connection: BorrowedFd<'_>,
    ) -> bool {
        let wanted = self.words.send();
        let message = ToServer::Connection { slot, is_opaque, client: Address::of(peer) }.to_bytes();
        let is_given = channel::send(&self.inbox, &message, &[connection]).is_ok();
        if is_given {
            self.given.set(self.given.get() + 1);
        } else {
            self.words.take_back(wanted);
        }
        is_given
    }

    /// Whether something is on its way to it.
    pub(super) fn has_queued(&self) -> bool {
        self.words.queued() > 0
    }

    /// For how long it has taken nothing of what it was given, though it said that it wants some; nothing where that is not long.
    pub(super) fn held_up_for(&self, now: Instant) -> Option<Duration> {
        /// A process that is busy for as long may be so for longer.
        const LONG: Duration = Duration::from_millis(20);
        if !self.has_queued() {
            self.taken.set(None);
            return None;
        }
        let taken = self.given.get() - i64::from(self.words.queued());
        match self.taken.get() {
            Some((before, since)) if before == taken => {
                Some(now.duration_since(since)).filter(|since| *since > LONG)
            }
            _ => {
                self.taken.set(Some((taken, now)));
                None
            }
        }
    }

    /// Takes back what it has not taken, until it says again that it wants some.
    pub(super) fn take_back(&self) -> Vec<(u32, bool, OwnedFd)> {
        self.words.stop_wanting();
        let not_taken = self.not_taken();
        not_taken.iter().for_each(|_| self.words.received());
        self.taken.set(None);
        not_taken
    }

    /// Counts anew what is on its way to it: nothing, if nothing is there.
    pub(super) fn recount(&self) {
        let mut byte = [0; 1];
        let flags = RecvFlags::PEEK | RecvFlags::DONTWAIT;
        if !self.is_willing() && matches!(recv(&self.other_end, &mut byte, flags), Err(Errno::AGAIN)) {
            self.words.has_none();
        }
    }

    /// Has it look whether there is something: it says anew then that it waits for a connection, if it does.
    pub(super) fn poke(&self) {
        if !self.is_willing() && !self.has_queued() {
            self.call();
        }
    }

    /// Wakes it, if it waits for a connection.
    pub(super) fn call(&self) {
        // One that does not read finds it later.
        let _ = channel::send(&self.inbox, &ToServer::Go { slot: u32::MAX }.to_bytes(), &[]);
    }

    /// What wakes one of its threads.
    pub(super) fn has_waker(&self, number: u16, waker: OwnedFd) {
        if let Some(place) = self.wakers.borrow_mut().get_mut(usize::from(number)) {
            *place = Some(waker);
        }
    }

    /// Wakes one of its threads.
    pub(super) fn wake(&self, waker: usize) {
        if let Some(Some(waker)) = self.wakers.borrow().get(waker) {
            // The thread has been woken by one that is full.
            let _ = rustix::net::send(waker, &[1], SendFlags::DONTWAIT | SendFlags::NOSIGNAL);
        }
    }

    /// It serves without the gate from now on, and asks for it again.
    pub(super) fn let_go(&self) {
        self.stop_using_slots();
        // One that has gone knows it.
        let _ = rustix::net::shutdown(&self.control, rustix::net::Shutdown::Both);
    }

    /// What was prepared for it is for others from now on.
    pub(super) fn stop_using_slots(&self) {
        while self.words.take_ready().is_some() {}
    }

    /// Tells it that the state of a parked connection is another.
    pub(super) fn go(&self, slot: u32) {
        let mut unsent = self.unsent.borrow_mut();
        if !unsent.is_empty() || !self.says_go(slot) {
            unsent.push(slot);
        }
    }

    /// Tells it what there was no room for.
    pub(super) fn go_again(&self) {
        let mut unsent = self.unsent.borrow_mut();
        let sent = unsent.iter().take_while(|slot| self.says_go(**slot)).count();
        unsent.drain(..sent);
    }

    /// Has it look at what is said of it, whatever it waits for.
    pub(super) fn look(&self) {
        self.says_go(u32::MAX);
    }

    fn says_go(&self, slot: u32) -> bool {
        channel::send(&self.control, &ToServer::Go { slot }.to_bytes(), &[]).is_ok()
    }

    /// Connections that it was given and has not taken, with their slots.
    pub(super) fn not_taken(&self) -> Vec<(u32, bool, OwnedFd)> {
        let mut left = Vec::new();
        while let Ok(received) = channel::receive(&self.other_end) {
            let Some(ToServer::Connection { slot, is_opaque, .. }) = ToServer::read(received.bytes()) else {
                if received.bytes().is_empty() { break } else { continue }
            };
            left.extend(received.into_beside().map(|connection| (slot, is_opaque, connection)));
        }
        left
    }
}
