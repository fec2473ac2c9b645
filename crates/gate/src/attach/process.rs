//! [`Process`]: a process of the server that uses a listener.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};

use handoff::keeper::{Keeper, Role};
use handoff::memory;
use handoff::message::{Address, ToGate, ToServer};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use tokio::io::Interest;
use tokio::net::UnixDatagram;

use super::messages;

/// A process of the server that uses a listener.
#[derive(Debug)]
pub(super) struct Process {
    /// Which of [`Memory::processes`](memory::Memory::processes).
    pub(super) number: u16,
    pub(super) pid: i32,
    words: &'static memory::Process,
    control: UnixDatagram,
    /// Where its connections go.
    inbox: OwnedFd,
    /// Its end of that, so that what it has not taken when it ends can be taken back.
    other_end: OwnedFd,
    keeper: Option<&'static Keeper>,
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
        }
        Ok(Self { to, from, keeper })
    }
}

/// What a process says.
pub(super) type Said = (Option<ToGate>, Vec<OwnedFd>);

impl Process {
    /// Answers one that says which listener it uses.
    pub(super) fn attach(
        control: UnixDatagram,
        (number, pid): (u16, i32),
        words: &'static memory::Process,
        (shared, left): (BorrowedFd<'_>, &Left),
        keeper: Option<&'static Keeper>,
    ) -> io::Result<Self> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let (inbox, other_end) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
        words.begin();
        let attached = ToServer::Attached { process: number }.to_bytes();
        messages::send(&control, &attached, &[shared, other_end.as_fd(), left.from.as_fd()])?;
        if let Some(keeper) = keeper {
            keeper.set(control.as_raw_fd(), Role::Control);
            keeper.set(other_end.as_raw_fd(), Role::Inbox { to: left.to.as_raw_fd() });
        }
        Ok(Self { number, pid, words, control, inbox, other_end, keeper })
    }

    /// What it says next; nothing once it is gone.
    pub(super) async fn says(&self) -> Option<Said> {
        let said = self.control.async_io(Interest::READABLE, || messages::receive(&self.control)).await;
        let (bytes, beside) = said.ok().filter(|(bytes, _)| !bytes.is_empty())?;
        Some((ToGate::read(&bytes), beside))
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
        self.words.send();
        let message = ToServer::Connection { slot, is_opaque, client: Address::of(peer) }.to_bytes();
        let is_given = messages::send(&self.inbox, &message, &[connection]).is_ok();
        if !is_given {
            self.words.take_back();
        }
        is_given
    }

    /// Tells it that the state of a parked connection is another.
    pub(super) fn go(&self, slot: u32) {
        // One that does not read is found out by its threads, which look at the state as well.
        let _ = messages::send(&self.control, &ToServer::Go { slot }.to_bytes(), &[]);
    }

    /// Connections that it was given and has not taken, with their slots.
    pub(super) fn not_taken(&self) -> Vec<(u32, bool, OwnedFd)> {
        let mut left = Vec::new();
        while let Ok((bytes, beside)) = messages::receive(&self.other_end) {
            let Some(ToServer::Connection { slot, is_opaque, .. }) = ToServer::read(&bytes) else {
                if bytes.is_empty() { break } else { continue }
            };
            left.extend(beside.into_iter().map(|connection| (slot, is_opaque, connection)));
        }
        left
    }
}
