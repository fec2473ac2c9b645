//! [`Turn`]: who is to send next on a connection.

use std::cmp::Ordering;

use crate::netlink::{INET_DIAG_INFO, attributes, u32_at};

/// Of `struct inet_diag_msg` (`linux/inet_diag.h`): bytes to be read, and where attributes begin.
const READ_QUEUE: usize = 56;
const END: usize = 72;

/// Of `struct tcp_info` (`linux/tcp.h`): how long ago, in milliseconds, something was sent and received; segments with
/// data; bytes that were sent, and those that were again; and times, in microseconds, with something to send and in which the receiver's window was full.
mod info {
    pub(super) const LAST_SENT: usize = 44;
    pub(super) const LAST_RECEIVED: usize = 52;
    pub(super) const SEGMENTS_IN: usize = 152;
    pub(super) const SEGMENTS_OUT: usize = 156;
    pub(super) const BUSY_TIME: usize = 168;
    pub(super) const WINDOW_LIMITED: usize = 176;
    pub(super) const BYTES_SENT: usize = 200;
    pub(super) const BYTES_AGAIN: usize = 208;
}

/// Who is to send next on a connection: who did not send last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// Who has this end; the other.
    Ours,
    Theirs,
    /// Nothing was sent in either direction.
    Free,
    /// Both sent last in the same tick of the kernel's clock, so many milliseconds ago: what was asked was answered within
    /// it, or an answer was followed at once by what is asked now.
    Unclear(u32),
}

/// A client that asks again at once, where that is not clear, has its answer sooner than after so many milliseconds.
pub(super) const FOLLOWS: u32 = 100;

/// Of a socket with its `struct tcp_info`.
pub(super) fn turn(socket: &[u8]) -> Option<Turn> {
    let info = tcp_info(socket)?;
    let is_unread = is_unread(socket)?;
    let (sent, received) = (u32_at(info, info::LAST_SENT)?, u32_at(info, info::LAST_RECEIVED)?);
    // Older kernels do not count these.
    let segments = u32_at(info, info::SEGMENTS_OUT).zip(u32_at(info, info::SEGMENTS_IN));
    Some(match segments {
        _ if is_unread => Turn::Ours,
        Some((0, 0)) => Turn::Free,
        Some((0, _)) => Turn::Ours,
        Some((_, 0)) => Turn::Theirs,
        _ => match received.cmp(&sent) {
            Ordering::Less => Turn::Ours,
            Ordering::Greater => Turn::Theirs,
            Ordering::Equal => Turn::Unclear(sent),
        },
    })
}

pub(super) fn is_unread(socket: &[u8]) -> Option<bool> {
    Some(u32_at(socket, READ_QUEUE)? > 0)
}

fn tcp_info(socket: &[u8]) -> Option<&[u8]> {
    let attributes = &mut attributes(socket.get(END..)?);
    attributes.find(|(kind, _)| *kind == INET_DIAG_INFO).map(|(_, info)| info)
}

/// What was sent on a connection since it is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sending {
    /// How long there was something to send, and how long of this the receiver's window was full, in microseconds.
    pub busy: u64,
    pub limited: u64,
    /// Bytes, those that were sent again included, and these; nothing before Linux 4.19.
    pub bytes: u64,
    pub bytes_again: u64,
}

/// Nothing where the kernel does not count it.
pub(super) fn sending(socket: &[u8]) -> Option<Sending> {
    let info = tcp_info(socket)?;
    let long = |at: usize| Some(u64::from_ne_bytes(info.get(at..at + 8)?.try_into().ok()?));
    Some(Sending {
        busy: long(info::BUSY_TIME)?,
        limited: long(info::WINDOW_LIMITED)?,
        bytes: long(info::BYTES_SENT).unwrap_or_default(),
        bytes_again: long(info::BYTES_AGAIN).unwrap_or_default(),
    })
}
