//! [`Process`]: a process of the server that uses a listener.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use handoff::memory;
use handoff::message::{Address, MAX_ADDRESS, ToGate, ToServer};
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
}

/// What a process says.
pub(super) type Said = (Option<ToGate>, Vec<OwnedFd>);

impl Process {
    /// Answers one that says which listener it uses.
    pub(super) fn attach(
        control: UnixDatagram,
        (number, pid): (u16, i32),
        words: &'static memory::Process,
        shared: BorrowedFd<'_>,
    ) -> io::Result<Self> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let (inbox, other_end) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
        words.begin();
        let attached = ToServer::Attached { process: number }.to_bytes();
        messages::send(&control, &attached, &[shared, other_end.as_fd()])?;
        Ok(Self { number, pid, words, control, inbox, other_end })
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
        let message = ToServer::Connection { slot, is_opaque, client: address(peer) }.to_bytes();
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

/// As the kernel has it (ip(7), ipv6(7)).
fn address(peer: SocketAddr) -> Address {
    let mut bytes = [0; MAX_ADDRESS];
    let family = |family: AddressFamily| family.as_raw().to_ne_bytes();
    let port = peer.port().to_be_bytes();
    let length = match peer {
        SocketAddr::V4(peer) => {
            bytes[..2].copy_from_slice(&family(AddressFamily::INET));
            bytes[2..4].copy_from_slice(&port);
            bytes[4..8].copy_from_slice(&peer.ip().octets());
            16
        }
        SocketAddr::V6(peer) => {
            bytes[..2].copy_from_slice(&family(AddressFamily::INET6));
            bytes[2..4].copy_from_slice(&port);
            bytes[4..8].copy_from_slice(&peer.flowinfo().to_ne_bytes());
            bytes[8..24].copy_from_slice(&peer.ip().octets());
            bytes[24..28].copy_from_slice(&peer.scope_id().to_ne_bytes());
            28
        }
    };
    Address { bytes, length }
}
