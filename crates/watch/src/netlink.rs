//! [`Netlink`]: lists that the kernel gives over netlink (netlink(7)), without `unsafe`.

use std::io;
use std::os::fd::OwnedFd;

use rustix::net::netdevice::index_to_name;
use rustix::net::netlink::{SOCK_DIAG, SocketAddrNetlink};
use rustix::net::{
    AddressFamily, Protocol, RecvFlags, SendFlags, SocketFlags, SocketType, recv, sendto, socket_with,
};

/// From `linux/netlink.h`.
const NLM_F_REQUEST_DUMP: u16 = 0x301;
const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
const HEADER: usize = 16;
/// From `linux/inet_diag.h` and `linux/socket.h`: AF_INET and AF_INET6; `struct inet_diag_sockid` stands behind the first
/// words of a request.
const SOCK_DIAG_BY_FAMILY: u16 = 20;
const FAMILIES: [u8; 2] = [2, 10];
const SOCKET_ID: usize = 48;
/// `struct tcp_info` (`linux/tcp.h`) is told as well, an attribute of the kind INET_DIAG_INFO.
pub(crate) const INET_DIAG_INFO: u16 = 2;
const WITH_INFO: u8 = 1 << (INET_DIAG_INFO - 1);
/// From `linux/unix_diag.h`, and what is asked for: names, peers, and queues.
const AF_UNIX: u8 = 1;
const UDIAG_SHOW: u32 = 0x01 | 0x04 | 0x10;

/// What sockets are of, by its number (`linux/in.h`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Transport {
    Tcp = 6,
    Udp = 17,
}

/// A socket that asks for lists.
pub(crate) struct Netlink {
    socket: OwnedFd,
    buffer: Vec<u8>,
}

impl Netlink {
    /// Asks about interfaces (rtnetlink(7)).
    pub(crate) fn route() -> io::Result<Self> {
        // NETLINK_ROUTE is 0, the protocol that sockets have by default.
        Self::open(None)
    }

    /// Asks about sockets (sock_diag(7)).
    pub(crate) fn diagnosis() -> io::Result<Self> {
        Self::open(Some(SOCK_DIAG))
    }

    fn open(protocol: Option<Protocol>) -> io::Result<Self> {
        // The kernel answers at once, a part for each call; it never keeps anybody waiting.
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = socket_with(AddressFamily::NETLINK, SocketType::DGRAM, flags, protocol)?;
        Ok(Self { socket, buffer: vec![0; 64 << 10] })
    }

    /// The name of an interface of this network namespace.
    pub(crate) fn interface(&self, number: u32) -> Option<String> {
        index_to_name(&self.socket, number).ok()
    }

    /// Asks for the sockets in these states (a bit for each, `net/tcp_states.h`), of both families; `each` is given a
    /// `struct inet_diag_msg`, of TCP with its `struct tcp_info` as an attribute. What was told before an error has been given.
    pub(crate) fn sockets(
        &mut self,
        of: Transport,
        states: u32,
        mut each: impl FnMut(&[u8]),
    ) -> io::Result<()> {
        let mut told = Ok(());
        for family in FAMILIES {
            let body = request(family, of, states);
            told = told.and(self.list(SOCK_DIAG_BY_FAMILY, &body, &mut each));
        }
        told
    }

    /// Asks for the unix sockets in these states; `each` is given a `struct unix_diag_msg`.
    pub(crate) fn unix_sockets(&mut self, states: u32, each: impl FnMut(&[u8])) -> io::Result<()> {
        let mut body = vec![AF_UNIX, 0, 0, 0];
        // Of all numbers, without a cookie.
        for word in [states, 0, UDIAG_SHOW, 0, 0] {
            body.extend(word.to_ne_bytes());
        }
        self.list(SOCK_DIAG_BY_FAMILY, &body, each)
    }

    /// Asks for a list; `each` is given what follows the header of each element.
    pub(crate) fn list(&mut self, kind: u16, body: &[u8], mut each: impl FnMut(&[u8])) -> io::Result<()> {
        let length = u32::try_from(HEADER + body.len()).unwrap_or(u32::MAX);
        let mut message = length.to_ne_bytes().to_vec();
        message.extend(kind.to_ne_bytes());
        message.extend(NLM_F_REQUEST_DUMP.to_ne_bytes());
        // A number and a port of ours, which it gives back.
        message.extend([0; 8]);
        message.extend(body);
        sendto(&self.socket, &message, SendFlags::empty(), &SocketAddrNetlink::new(0, 0))?;
        loop {
            let (_, length) = recv(&self.socket, &mut self.buffer[..], RecvFlags::empty())?;
            let mut rest = self.buffer.get(..length).unwrap_or_default();
            while let Some((kind, element, next)) = first(rest) {
                match kind {
                    NLMSG_DONE => return Ok(()),
                    NLMSG_ERROR => return Err(io::Error::other("netlink refuses the request")),
                    _ => each(element),
                }
                rest = next;
            }
        }
    }
}

/// `struct inet_diag_req_v2`.
fn request(family: u8, of: Transport, states: u32) -> Vec<u8> {
    let mut body = vec![family, of as u8, WITH_INFO, 0];
    body.extend(states.to_ne_bytes());
    body.extend([0; SOCKET_ID]);
    body
}

/// The first message: its kind, what follows its header, and what follows it.
fn first(messages: &[u8]) -> Option<(u16, &[u8], &[u8])> {
    let length = u32_at(messages, 0)? as usize;
    let kind = u16::from_ne_bytes(messages.get(4..6)?.try_into().ok()?);
    let element = messages.get(HEADER..length)?;
    Some((kind, element, messages.get(length.next_multiple_of(4)..).unwrap_or_default()))
}

/// The attributes in a message: their kinds and values.
pub(crate) fn attributes(mut bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let length = usize::from(u16::from_ne_bytes(bytes.get(..2)?.try_into().ok()?));
        let kind = u16::from_ne_bytes(bytes.get(2..4)?.try_into().ok()?);
        let value = bytes.get(4..length)?;
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some((kind, value))
    })
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_short_is_survived() {
        let attribute = [8_u8, 0, 2, 0, 1, 2, 3, 4];
        assert_eq!(attributes(&attribute).collect::<Vec<_>>(), [(2, &[1, 2, 3, 4][..])]);
        for length in 0..8 {
            assert_eq!(attributes(&attribute[..length]).count(), 0);
        }
        for length in 0..40 {
            let mut message = vec![0; length];
            assert!(first(&message).is_none());
            if let Some(first) = message.first_mut() {
                *first = 60;
            }
            assert!(first(&message).is_none());
        }
    }
}
