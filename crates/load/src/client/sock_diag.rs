//! [`SocketDiagnosis`]: asks the kernel how a connection fares: how often it had to send a SYN again, and whether a body
//! has arrived.
//!
//! The figures are those of `TCP_INFO`. They are read over netlink (sock_diag(7)), which needs no
//! `unsafe`, and only for connections that took long enough for a SYN to have been sent again, and some twenty times
//! for a body, so its cost does not matter.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, OwnedFd};

use rustix::io;
use rustix::net::netlink::{SOCK_DIAG, SocketAddrNetlink};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, getpeername, getsockname, recv, sendto,
    socket_with,
};

/// From `linux/netlink.h`, `linux/inet_diag.h` and `linux/tcp.h`.
mod kernel {
    pub(super) const SOCK_DIAG_BY_FAMILY: u16 = 20;
    pub(super) const NLM_F_REQUEST: u16 = 1;
    pub(super) const IPPROTO_TCP: u8 = 6;
    pub(super) const INET_DIAG_INFO: u16 = 2;
    pub(super) const INET_DIAG_NOCOOKIE: [u8; 8] = [0xff; 8];
    pub(super) const NLMSG_HEADER: usize = 16;
    /// `struct inet_diag_msg`.
    pub(super) const DIAG_MESSAGE: usize = 72;
    /// Of `tcpi_unacked`, `tcpi_total_retrans` and `tcpi_notsent_bytes` in `struct tcp_info`.
    pub(super) const UNACKED: usize = 24;
    pub(super) const TOTAL_RETRANS: usize = 100;
    pub(super) const NOTSENT_BYTES: usize = 144;
}

/// How a connection fares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TcpInfo {
    /// Segments sent again so far; right after, or during, the handshake these are SYNs.
    pub(crate) retransmits: u32,
    /// Segments that the other side has not acknowledged.
    unacknowledged: u32,
    /// Bytes that were not sent even once.
    unsent: u32,
}

impl TcpInfo {
    /// Whether all that was written has arrived, as far as can be known: a receiver need not acknowledge every segment
    /// at once, but every second (RFC 9293, section 3.8.6.3).
    pub(crate) fn has_arrived(self) -> bool {
        self.unsent == 0 && self.unacknowledged <= 2
    }
}

#[derive(Debug)]
pub(crate) struct SocketDiagnosis {
    netlink: OwnedFd,
}

impl SocketDiagnosis {
    pub(crate) fn open() -> io::Result<Self> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let netlink = socket_with(AddressFamily::NETLINK, SocketType::DGRAM, flags, Some(SOCK_DIAG))?;
        Ok(Self { netlink })
    }

    /// How the connection of a socket fares; `None` where it is not of TCP, or the kernel does not say.
    pub(crate) fn of(&self, socket: impl AsFd) -> Option<TcpInfo> {
        let local = SocketAddr::try_from(getsockname(&socket).ok()?).ok()?;
        let remote = SocketAddr::try_from(getpeername(&socket).ok()??).ok()?;
        self.between(local, remote)
    }

    /// How the connection between two addresses fares. `None` when the kernel does not say.
    pub(crate) fn between(&self, local: SocketAddr, remote: SocketAddr) -> Option<TcpInfo> {
        let to_kernel = SocketAddrNetlink::new(0, 0);
        sendto(&self.netlink, &request(local, remote), SendFlags::empty(), &to_kernel).ok()?;
        let mut answer = [0; 4096];
        // The kernel answers before sendto(2) returns.
        let (_, length) = recv(&self.netlink, &mut answer[..], RecvFlags::empty()).ok()?;
        tcp_info(answer.get(..length)?)
    }
}

fn request(local: SocketAddr, remote: SocketAddr) -> Vec<u8> {
    let family = if local.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let wanted = 1 << (kernel::INET_DIAG_INFO - 1);
    let all_states = u32::MAX;
    let any_interface = 0_u32;
    let mut body = vec![u8::try_from(family.as_raw()).unwrap_or(0), kernel::IPPROTO_TCP, wanted, 0];
    body.extend(all_states.to_ne_bytes());
    body.extend(local.port().to_be_bytes());
    body.extend(remote.port().to_be_bytes());
    for address in [local.ip(), remote.ip()] {
        match address {
            IpAddr::V4(address) => {
                body.extend(address.octets());
                body.extend([0; 12]);
            }
            IpAddr::V6(address) => body.extend(address.octets()),
        }
    }
    body.extend(any_interface.to_ne_bytes());
    body.extend(kernel::INET_DIAG_NOCOOKIE);

    let length = u32::try_from(kernel::NLMSG_HEADER + body.len()).unwrap_or(0);
    let (sequence, port) = (1_u32, 0_u32);
    let mut message = Vec::with_capacity(kernel::NLMSG_HEADER + body.len());
    message.extend(length.to_ne_bytes());
    message.extend(kernel::SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    message.extend(kernel::NLM_F_REQUEST.to_ne_bytes());
    message.extend(sequence.to_ne_bytes());
    message.extend(port.to_ne_bytes());
    message.extend(body);
    message
}

/// Finds `struct tcp_info` among the attributes behind the answer's fixed part.
fn tcp_info(answer: &[u8]) -> Option<TcpInfo> {
    let kind = u16::from_ne_bytes(answer.get(4..6)?.try_into().ok()?);
    if kind != kernel::SOCK_DIAG_BY_FAMILY {
        return None;
    }
    let mut attributes = answer.get(kernel::NLMSG_HEADER + kernel::DIAG_MESSAGE..)?;
    loop {
        let length = usize::from(u16::from_ne_bytes(attributes.get(..2)?.try_into().ok()?));
        let kind = u16::from_ne_bytes(attributes.get(2..4)?.try_into().ok()?);
        let value = attributes.get(4..length)?;
        if kind == kernel::INET_DIAG_INFO {
            let figure = |at: usize| Some(u32::from_ne_bytes(value.get(at..at + 4)?.try_into().ok()?));
            return Some(TcpInfo {
                retransmits: figure(kernel::TOTAL_RETRANS)?,
                unacknowledged: figure(kernel::UNACKED)?,
                // Since Linux 4.6.
                unsent: figure(kernel::NOTSENT_BYTES).unwrap_or(0),
            });
        }
        // Attributes begin at multiples of four bytes.
        attributes = attributes.get(length.next_multiple_of(4)..)?;
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn an_undisturbed_connection_has_nothing_to_tell() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(address) else {
                println!("{address} is not to be had here; skipped");
                continue;
            };
            let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let info = SocketDiagnosis::open().unwrap().of(&stream).unwrap();
            assert_eq!(info, TcpInfo { retransmits: 0, unacknowledged: 0, unsent: 0 }, "{address}");
        }
    }

    #[test]
    fn what_is_not_read_has_not_arrived() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let diagnosis = SocketDiagnosis::open().unwrap();
        stream.write_all(b"a few bytes").unwrap();
        assert!(diagnosis.of(&stream).unwrap().has_arrived());
        stream.set_nonblocking(true).unwrap();
        while stream.write(&[0; 65536]).is_ok() {}
        assert!(!diagnosis.of(&stream).unwrap().has_arrived());
    }

    #[test]
    fn a_connection_that_is_not_there_is_not_made_up() {
        let nobody = "127.0.0.1:1".parse().unwrap();
        assert_eq!(SocketDiagnosis::open().unwrap().between(nobody, nobody), None);
    }

    #[test]
    fn answers_that_are_cut_short_are_survived() {
        for length in 0..200 {
            let mut answer = vec![0; length];
            if let Some(kind) = answer.get_mut(4..6) {
                kind.copy_from_slice(&kernel::SOCK_DIAG_BY_FAMILY.to_ne_bytes());
            }
            if let Some(attribute) = answer.get_mut(88..92) {
                attribute.copy_from_slice(&[8, 0, 2, 0]);
            }
            assert_eq!(tcp_info(&answer), None);
        }
    }
}
