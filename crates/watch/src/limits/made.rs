//! [`Made`]: connections that lead elsewhere, and [`Listening`], where they may lead to.

use crate::netlink::u32_at;

/// Of `struct inet_diag_msg` (`linux/inet_diag.h`): the two ports, and the number of the socket, as links in
/// `/proc/PID/fd` have it.
pub(super) const SOURCE_PORT: usize = 4;
pub(super) const DESTINATION_PORT: usize = 6;
pub(super) const INODE: usize = 68;

/// A socket that listens.
pub(super) struct Listening {
    pub(super) inode: u64,
    /// Connections that wait to be accepted.
    pub(super) unaccepted: u64,
}

/// A connection: its local and its remote port, and the number of its socket.
pub(super) struct Made {
    pub(super) from: String,
    pub(super) to: String,
    pub(super) inode: u64,
    pub(super) is_of_tcp: bool,
}

impl Made {
    pub(super) fn of_udp(socket: &[u8]) -> Option<Self> {
        let (from, to) = (port_at(socket, SOURCE_PORT)?, port_at(socket, DESTINATION_PORT)?);
        let inode = u64::from(u32_at(socket, INODE)?);
        Some(Self { from: format!("udp:{from}"), to: format!("udp:{to}"), inode, is_of_tcp: false })
    }
}

pub(super) fn port_at(socket: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(socket.get(at..at + 2)?.try_into().ok()?))
}
