//! Messages with descriptors beside them, on sockets that keep each whole (`SOCK_SEQPACKET`).

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use handoff::message::MAX_LENGTH;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};

/// Descriptors beside a message at most.
const BESIDE: usize = 3;

/// Sends a message, without waiting for room.
///
/// # Errors
/// As of sendmsg(2): there is no room, or the other side is gone.
pub(super) fn send(to: impl AsFd, message: &[u8; MAX_LENGTH], beside: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(BESIDE))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !beside.is_empty() {
        ancillary.push(SendAncillaryMessage::ScmRights(beside));
    }
    let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
    sendmsg(to, &[IoSlice::new(message)], &mut ancillary, flags)?;
    Ok(())
}

/// The next message that is there, and the descriptors beside it; an empty one when the other side is gone.
///
/// # Errors
/// As of recvmsg(2); [`io::ErrorKind::WouldBlock`] when none is there.
pub(super) fn receive(from: impl AsFd) -> io::Result<(Vec<u8>, Vec<OwnedFd>)> {
    let mut bytes = [0; MAX_LENGTH + 1];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(BESIDE))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT;
    let received = recvmsg(from, &mut [IoSliceMut::new(&mut bytes)], &mut ancillary, flags)?;
    let mut beside = Vec::new();
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(passed) = message {
            beside.extend(passed);
        }
    }
    Ok((bytes[..received.bytes].to_vec(), beside))
}
