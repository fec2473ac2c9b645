//! [`Sockets`]: data that lies in sockets, connections to others, local ports, and what the kernel's TCP counts.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::netlink::Netlink;

/// All sockets of this network namespace.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sockets {
    /// Connections to the ports that wait to be accepted.
    pub unaccepted: u64,
    /// How many may.
    pub room: u64,
    /// Connections to the ports on which something has come that the program has not read.
    pub unread: u64,
    /// Bytes that were sent on connections to the ports and that the other side does not have yet.
    pub unsent_bytes: u64,
    /// Connections to ports to which the programs connect, established or on their way to be, by the port that they go to; but
    /// for those to the ports. All that were made here, where it is not known which sockets the programs have.
    pub outgoing: BTreeMap<u16, u64>,
    /// Connections that wait for packets that may be late: each keeps its port.
    pub time_wait: u64,
    /// Local ports that are in use at most, if all sockets went to one place.
    pub ports_used: u64,
    /// Local ports that there are for connections from here.
    pub ports: u64,
    /// Since the namespace is there.
    pub counters: Counters,
}

/// `TcpExt` and `Tcp` of `/proc/net/netstat` and `/proc/net/snmp`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// Connections that were ready for a listen queue that was full.
    pub listen_overflows: u64,
    /// Connections and SYNs that a listening socket dropped for any reason.
    pub listen_drops: u64,
    /// SYNs for which there was no room, answered with a cookie or not at all.
    pub syn_queue_full: u64,
    /// Segments sent again.
    pub retransmits: u64,
    /// SYNs sent again.
    pub syn_retransmits: u64,
}

/// From `linux/inet_diag.h` and `net/tcp_states.h`.
mod kernel {
    /// Established, SYN sent, FIN_WAIT1, CLOSE_WAIT, LAST_ACK, LISTEN, CLOSING: all that hold data or are asked for.
    pub(super) const STATES: u32 = 1 << 1 | 1 << 2 | 1 << 4 | 1 << 8 | 1 << 9 | 1 << 10 | 1 << 11;
    pub(super) const LISTEN: u8 = 10;
    /// Established, and SYN sent.
    pub(super) const UNDER_WAY: [u8; 2] = [1, 2];
    /// Of the state in `struct inet_diag_msg`.
    pub(super) const STATE: usize = 1;
    /// Of the two ports in `struct inet_diag_msg`, and of bytes to be read and bytes sent.
    pub(super) const SOURCE_PORT: usize = 4;
    pub(super) const DESTINATION_PORT: usize = 6;
    pub(super) const READ_QUEUE: usize = 56;
    pub(super) const WRITE_QUEUE: usize = 60;
    /// The number of the socket, as links in `/proc/PID/fd` have it.
    pub(super) const INODE: usize = 68;
}

/// All sockets, before it is known whose they are.
pub(super) struct Looked {
    sockets: Sockets,
    own: Own,
}

impl Looked {
    pub(super) fn read(netlink: Option<&mut Netlink>, ports: &[u16]) -> Self {
        let text = |file: &str| fs::read_to_string(file).unwrap_or_default();
        let (in_use, time_wait) = sockstat(&text("/proc/net/sockstat"));
        let in_use = in_use + sockstat_6(&text("/proc/net/sockstat6"));
        let mut sockets = Sockets {
            time_wait,
            ports_used: in_use + time_wait,
            ports: range(&text("/proc/sys/net/ipv4/ip_local_port_range")),
            counters: Counters::parse(&text("/proc/net/netstat"), &text("/proc/net/snmp")),
            ..Sockets::default()
        };
        let mut own = Own::default();
        if let Some(netlink) = netlink {
            // What was told before an error is as good as all.
            let _ = netlink.sockets(kernel::STATES, |socket| {
                sockets.count(socket, ports, &mut own);
            });
        }
        Self { sockets, own }
    }

    /// The sockets that listen at the ports, by their numbers.
    pub(super) fn listeners(&self) -> &BTreeSet<u64> {
        &self.own.listeners
    }

    /// What there is, if these are the programs' sockets, and they have connected to the ports that were `asked` before.
    pub(super) fn of(self, programs: Option<&BTreeSet<u64>>, asked: &mut BTreeSet<u16>) -> Sockets {
        let Self { mut sockets, own } = self;
        // A connection within this machine has two ends: that at a port where a program listens was not made here.
        let is_made_here = |made: &&Made| !own.listening.contains(&made.from);
        let made_here = || own.connections.iter().filter(is_made_here);
        if let Some(programs) = programs {
            asked.extend(made_here().filter(|made| programs.contains(&made.inode)).map(|made| made.to));
        }
        for made in made_here().filter(|made| programs.is_none() || asked.contains(&made.to)) {
            *sockets.outgoing.entry(made.to).or_default() += 1;
        }
        sockets
    }
}

impl Sockets {
    /// Counts a socket.
    fn count(&mut self, socket: &[u8], ports: &[u16], own: &mut Own) -> Option<()> {
        let port = |at: usize| Some(u16::from_be_bytes(socket.get(at..at + 2)?.try_into().ok()?));
        let (from, to) = (port(kernel::SOURCE_PORT)?, port(kernel::DESTINATION_PORT)?);
        let bytes = |at| crate::netlink::u32_at(socket, at).map(u64::from);
        let state = *socket.get(kernel::STATE)?;
        if state == kernel::LISTEN {
            own.listening.insert(from);
            // Of a listening socket the two queues are the length of its accept queue, and the most that it may be.
            if ports.contains(&from) {
                own.listeners.insert(bytes(kernel::INODE)?);
                self.unaccepted += bytes(kernel::READ_QUEUE)?;
                self.room += bytes(kernel::WRITE_QUEUE)?;
            }
        } else if ports.contains(&from) {
            self.unread += u64::from(bytes(kernel::READ_QUEUE)? > 0);
            self.unsent_bytes += bytes(kernel::WRITE_QUEUE)?;
        } else if !ports.contains(&to) && kernel::UNDER_WAY.contains(&state) {
            own.connections.push(Made { from, to, inode: bytes(kernel::INODE)? });
        }
        Some(())
    }
}

/// Sockets that are not at the ports.
#[derive(Default)]
struct Own {
    /// Ports on which somebody listens.
    listening: BTreeSet<u16>,
    /// Those that listen at the ports.
    listeners: BTreeSet<u64>,
    connections: Vec<Made>,
}

/// A connection: its local and its remote port, and the number of its socket.
struct Made {
    from: u16,
    to: u16,
    inode: u64,
}

impl Counters {
    fn parse(netstat: &str, snmp: &str) -> Self {
        let of = |text: &str, group: &str, name: &str| figure(text, group, name).unwrap_or(0);
        Self {
            listen_overflows: of(netstat, "TcpExt:", "ListenOverflows"),
            listen_drops: of(netstat, "TcpExt:", "ListenDrops"),
            syn_queue_full: of(netstat, "TcpExt:", "TCPReqQFullDrop")
                + of(netstat, "TcpExt:", "TCPReqQFullDoCookies"),
            retransmits: of(snmp, "Tcp:", "RetransSegs"),
            syn_retransmits: of(netstat, "TcpExt:", "TCPSynRetrans"),
        }
    }
}

/// Names are in one line, values in the next.
fn figure(text: &str, group: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines().filter(|line| line.starts_with(group));
    let (names, values) = (lines.next()?, lines.next()?);
    let (_, value) = names.split(' ').zip(values.split(' ')).find(|(this, _)| *this == name)?;
    value.parse().ok()
}

/// Sockets in use, and in TIME_WAIT.
fn sockstat(text: &str) -> (u64, u64) {
    let line = text.lines().find(|line| line.starts_with("TCP:")).unwrap_or_default();
    let words: Vec<&str> = line.split(' ').collect();
    let after = |name: &str| {
        let at = words.iter().position(|word| *word == name)?;
        words.get(at + 1)?.parse().ok()
    };
    (after("inuse").unwrap_or(0), after("tw").unwrap_or(0))
}

fn sockstat_6(text: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix("TCP6: inuse "));
    line.and_then(|number| number.trim().parse().ok()).unwrap_or(0)
}

fn range(text: &str) -> u64 {
    let ends: Vec<u64> = text.split_whitespace().filter_map(|number| number.parse().ok()).collect();
    match ends[..] {
        [first, last] if first <= last => last - first + 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsRawFd;

    use super::*;

    #[test]
    fn counters_are_found_by_their_names() {
        let netstat =
            "TcpExt: TW ListenOverflows ListenDrops TCPSynRetrans\nTcpExt: 1 20 30 4\nIpExt: A\nIpExt: 9\n";
        let snmp = "Ip: A\nIp: 3\nTcp: InSegs RetransSegs\nTcp: 7 50\n";
        let counters = Counters::parse(netstat, snmp);
        let expected = Counters {
            listen_overflows: 20,
            listen_drops: 30,
            retransmits: 50,
            syn_retransmits: 4,
            ..Counters::default()
        };
        assert_eq!(counters, expected);
        assert_eq!(Counters::parse("TcpExt: A", ""), Counters::default());
    }

    #[test]
    fn sockets_and_ports_are_counted() {
        assert_eq!(sockstat("sockets: used 290\nTCP: inuse 10 orphan 0 tw 321 alloc 15 mem 2\n"), (10, 321));
        assert_eq!(sockstat(""), (0, 0));
        assert_eq!(sockstat_6("TCP6: inuse 7\nUDP6: inuse 3\n"), 7);
        assert_eq!((range("32768\t60999\n"), range("x"), range("2 1")), (28232, 0, 0));
    }

    /// Real connections: one to the port on which something lies unread, and one to somewhere else.
    #[test]
    fn data_in_sockets_and_connections_to_others_are_seen() {
        let [here, there] = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
        let port = |listener: &TcpListener| listener.local_addr().unwrap().port();
        let mut client = TcpStream::connect(here.local_addr().unwrap()).unwrap();
        let _server = here.accept().unwrap();
        let outgoing = TcpStream::connect(there.local_addr().unwrap()).unwrap();
        let _back_end = there.accept().unwrap();
        let looked = || Looked::read(Some(&mut Netlink::diagnosis().unwrap()), &[port(&here)]);
        let look = || looked().of(None, &mut BTreeSet::new());
        let before = look();
        assert_eq!((before.unaccepted, before.room), (0, 128));
        assert_eq!((before.unread, before.outgoing.get(&port(&there))), (0, Some(&1)));
        let others =
            [port(&here), client.local_addr().unwrap().port(), outgoing.local_addr().unwrap().port()];
        assert!(!others.iter().any(|port| before.outgoing.contains_key(port)), "{before:?}");
        let inode = |socket: &dyn AsRawFd| {
            let link = fs::read_link(format!("/proc/self/fd/{}", socket.as_raw_fd())).unwrap();
            super::super::proc::inode(link.to_str().unwrap()).unwrap()
        };
        assert!(looked().listeners().contains(&inode(&here)));
        let made = |by: &dyn AsRawFd| {
            looked().of(Some(&[inode(by)].into()), &mut BTreeSet::new()).outgoing.get(&port(&there)).copied()
        };
        assert_eq!((made(&outgoing), made(&client)), (Some(1), None), "whose it is");
        assert!(before.ports > 0 && before.ports_used >= 2, "{before:?}");
        client.write_all(b"GET").unwrap();
        testkit::poll_until(testkit::PATIENCE, "data to arrive", || (look().unread == 1).then_some(()));
        let _waiting = TcpStream::connect(here.local_addr().unwrap()).unwrap();
        assert_eq!(look().unaccepted, 1);
    }
}
