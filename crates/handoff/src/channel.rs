//! Messages with descriptors beside them, on sockets that keep each whole (`SOCK_SEQPACKET`). Nothing is allocated.

extern crate std;

use core::mem::MaybeUninit;
use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::net::sockopt::socket_acceptconn;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};

use crate::message::MAX_LENGTH;

/// Descriptors beside a message at most.
const BESIDE: usize = 3;

/// Sends a message, without waiting for room.
///
/// # Errors
/// As of sendmsg(2): there is no room, or the other side is gone.
pub fn send(to: impl AsFd, message: &[u8; MAX_LENGTH], beside: &[BorrowedFd<'_>]) -> rustix::io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(BESIDE))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !beside.is_empty() {
        ancillary.push(SendAncillaryMessage::ScmRights(beside));
    }
    let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
    sendmsg(to, &[IoSlice::new(message)], &mut ancillary, flags)?;
    Ok(())
}

/// What was received.
#[derive(Debug)]
pub struct Received {
    bytes: [u8; MAX_LENGTH + 1],
    length: usize,
    beside: [Option<OwnedFd>; BESIDE],
}

impl Received {
    /// The message; empty when the other side is gone.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// The first descriptor beside it; the others are closed.
    pub fn into_beside(self) -> Option<OwnedFd> {
        self.beside.into_iter().flatten().next()
    }
}

/// The next message that is there, and the descriptors beside it.
///
/// # Errors
/// As of recvmsg(2); [`io::ErrorKind::WouldBlock`] when none is there.
pub fn receive(from: impl AsFd) -> io::Result<Received> {
    let mut bytes = [0; MAX_LENGTH + 1];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(BESIDE))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT;
    let length = recvmsg(from, &mut [IoSliceMut::new(&mut bytes)], &mut ancillary, flags)?.bytes;
    let mut beside = [const { None }; BESIDE];
    let passed = ancillary.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(passed) => Some(passed),
        _ => None,
    });
    beside.iter_mut().zip(passed.flatten()).for_each(|(place, fd)| *place = Some(fd));
    Ok(Received { bytes, length, beside })
}

/// Whether a socket listens, and is one of the server's.
pub fn is_listener_of_server(socket: impl AsFd) -> bool {
    stranger(&socket).is_none() && socket_acceptconn(socket).unwrap_or(false)
}

/// The user that made a socket, if it is another than root or this process's own. Who has a listener of its own to show has nothing
/// to do with the server: of what is the server's, the kernel knows who made it.
pub fn stranger(socket: impl AsFd) -> Option<u32> {
    let owner = rustix::fs::fstat(socket).map_or(u32::MAX, |about| about.st_uid);
    (owner != 0 && owner != rustix::process::geteuid().as_raw()).then_some(owner)
}
