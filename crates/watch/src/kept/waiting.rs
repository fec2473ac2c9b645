//! [`Waiting`]: how many connections wait to be accepted.

use crate::netlink::{Netlink, Transport, u32_at};

/// From `linux/inet_diag.h` and `net/tcp_states.h`.
mod kernel {
    pub(super) const LISTENING: u32 = 1 << 10;
    /// In `struct inet_diag_msg`: the port, and of a listening socket how many wait.
    pub(super) const SOURCE_PORT: usize = 4;
    pub(super) const READ_QUEUE: usize = 56;
}

/// Asks for listening sockets alone, which are few.
pub(super) struct Waiting {
    netlink: Option<Netlink>,
    ports: Vec<u16>,
}

impl Waiting {
    /// At these ports.
    pub(super) fn open(ports: &[u16]) -> Self {
        let netlink = if ports.is_empty() { None } else { Netlink::diagnosis().ok() };
        Self { netlink, ports: ports.to_vec() }
    }

    /// How many wait at each; none where the kernel does not tell.
    pub(super) fn read(&mut self) -> Vec<u64> {
        let Some(netlink) = &mut self.netlink else { return Vec::new() };
        let mut waiting = vec![0; self.ports.len()];
        let listed = netlink.sockets(Transport::Tcp, kernel::LISTENING, |socket| {
            let port = socket.get(kernel::SOURCE_PORT..kernel::SOURCE_PORT + 2);
            let port = port.map(|port| u16::from_be_bytes([port[0], port[1]]));
            let place = self.ports.iter().position(|wanted| Some(*wanted) == port);
            if let Some((place, count)) = place.zip(u32_at(socket, kernel::READ_QUEUE)) {
                waiting[place] += u64::from(count);
            }
        });
        if listed.is_err() {
            return Vec::new();
        }
        waiting
    }
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn those_who_are_not_accepted_wait() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let mut waiting = Waiting::open(&[address.port(), 1]);
        let clients: Vec<_> = (0..3).map(|_| TcpStream::connect(address).unwrap()).collect();
        assert_eq!(waiting.read(), [3, 0]);
        let _accepted = listener.accept().unwrap();
        assert_eq!(waiting.read(), [2, 0]);
        drop(clients);
        assert!(Waiting::open(&[]).read().is_empty());
    }
}
