//! [`SocketDiagnosis`]: asks the kernel how often it had to send a SYN again.
//!
//! The figure is `tcpi_total_retrans` of `TCP_INFO`. It is read over netlink (sock_diag(7)),
//! which needs no `unsafe`, and only for connections that took long enough for a SYN to have
//! been sent again, so its cost does not matter.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;

use rustix::io;
use rustix::net::netlink::{SOCK_DIAG, SocketAddrNetlink};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, sendto, socket_with};

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
    /// Of `tcpi_total_retrans` in `struct tcp_info`.
    pub(super) const TOTAL_RETRANS: usize = 100;
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

    /// Segments sent again on the connection so far; right after, or during, the handshake
    /// these are SYNs. `None` when the kernel does not say.
    pub(crate) fn retransmits(&self, local: SocketAddr, remote: SocketAddr) -> Option<u32> {
        let to_kernel = SocketAddrNetlink::new(0, 0);
        sendto(&self.netlink, &request(local, remote), SendFlags::empty(), &to_kernel).ok()?;
        let mut answer = [0; 4096];
        // The kernel answers before sendto(2) returns.
        let (_, length) = recv(&self.netlink, &mut answer[..], RecvFlags::empty()).ok()?;
        total_retransmits(answer.get(..length)?)
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
fn total_retransmits(answer: &[u8]) -> Option<u32> {
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
            let at = kernel::TOTAL_RETRANS;
            return Some(u32::from_ne_bytes(value.get(at..at + 4)?.try_into().ok()?));
        }
        // Attributes begin at multiples of four bytes.
        attributes = attributes.get(length.next_multiple_of(4)..)?;
    }
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn an_undisturbed_connection_has_none() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(address) else {
                println!("{address} is not to be had here; skipped");
                continue;
            };
            let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (local, remote) = (stream.local_addr().unwrap(), stream.peer_addr().unwrap());
            assert_eq!(SocketDiagnosis::open().unwrap().retransmits(local, remote), Some(0), "{address}");
        }
    }

    #[test]
    fn a_connection_that_is_not_there_is_not_made_up() {
        let nobody = "127.0.0.1:1".parse().unwrap();
        assert_eq!(SocketDiagnosis::open().unwrap().retransmits(nobody, nobody), None);
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
            assert_eq!(total_retransmits(&answer), None);
        }
    }
}
