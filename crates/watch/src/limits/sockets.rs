//! [`Sockets`]: data that lies in sockets, connections to others, local ports, and what the kernel's TCP counts.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use super::made::{DESTINATION_PORT, INODE, Listening, Made, SOURCE_PORT, port_at};
use super::turns::{FOLLOWS, Sending, Turn, is_unread, sending, turn};
use super::unix::Unix;
use crate::netlink::{Netlink, Transport, u32_at};

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
    /// Accepted connections to the ports on which the server owes nothing: it sent what was sent last, or nothing has come.
    pub idle: u64,
    /// And those on which something has come since.
    pub owed: u64,
    /// Of these, those with something that has not been read.
    pub unattended: u64,
    /// Of each connection to the ports, by its cookie, what was sent on it.
    pub sending: BTreeMap<u64, Sending>,
    /// Whether all connections were listed.
    pub is_listed: bool,
    /// Whether bytes are known of those that have sent some.
    pub has_bytes: bool,
    /// Connections to ports to which the programs connect, established or on their way to be, by the port that they go to
    /// (`udp:53`, or the path of a unix socket); but for those to the ports. All of TCP that were made here, where it is not
    /// known which sockets the programs have.
    pub outgoing: BTreeMap<String, u64>,
    /// Of those of TCP, the ones on which the programs have sent last, and wait for what the other side sends, or for it to
    /// accept; by the kernel's clock, and nothing where that does not tell.
    pub outgoing_awaited: BTreeMap<String, u64>,
    /// Whether these are all: the kernel tells unix sockets, and which sockets the programs have.
    pub knows_outgoing: bool,
    /// Connections that wait to be accepted at these, where that is on this host.
    pub outgoing_unaccepted: BTreeMap<String, u64>,
    /// And where parts of the server are asked, which are not among the others.
    pub parts_unaccepted: BTreeMap<String, u64>,
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
    /// Segments sent, without those that were sent again.
    pub segments: u64,
    /// Segments sent again.
    pub retransmits: u64,
    /// SYNs sent again.
    pub syn_retransmits: u64,
}

/// From `linux/inet_diag.h` and `net/tcp_states.h`.
mod kernel {
    /// Established, SYN sent, FIN_WAIT1, CLOSE_WAIT, LAST_ACK, LISTEN, CLOSING: all that hold data or are asked for.
    pub(super) const STATES: u32 = 1 << 1 | 1 << 2 | 1 << 4 | 1 << 8 | 1 << 9 | 1 << 10 | 1 << 11;
    pub(super) const ESTABLISHED: u8 = 1;
    pub(super) const LISTEN: u8 = 10;
    /// Established, and SYN sent.
    pub(super) const UNDER_WAY: [u8; 2] = [1, 2];
    /// Of the state in `struct inet_diag_msg`.
    pub(super) const STATE: usize = 1;
    /// Of its cookie, and of bytes to be read and bytes sent.
    pub(super) const COOKIE: usize = 44;
    pub(super) const READ_QUEUE: usize = 56;
    pub(super) const WRITE_QUEUE: usize = 60;
}

/// Of so many connections one may be unclear.
const MOST_UNCLEAR: u64 = 4;

/// All sockets, before it is known whose they are.
pub(super) struct Looked {
    sockets: Sockets,
    own: Own,
    unix: Unix,
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
        let (mut own, mut unix) = (Own::default(), Unix::default());
        if let Some(netlink) = netlink {
            // What was told before an error is as good as all, and a kernel need not know all kinds.
            let listed = netlink.sockets(Transport::Tcp, kernel::STATES, |socket| {
                sockets.count(socket, ports, &mut own);
            });
            sockets.is_listed = listed.is_ok();
            let _ = netlink.sockets(Transport::Udp, 1 << kernel::ESTABLISHED, |socket| {
                own.connections.extend(Made::of_udp(socket));
            });
            let listed = netlink.unix_sockets(1 << kernel::ESTABLISHED | 1 << kernel::LISTEN, |socket| {
                unix.add(socket);
            });
            sockets.knows_outgoing = listed.is_ok();
        }
        Self { sockets, own, unix }
    }

    /// The sockets that listen at the ports, by their numbers.
    pub(super) fn listeners(&self) -> &BTreeSet<u64> {
        &self.own.listeners
    }

    /// Those that listen where the programs have been seen to connect to, and whether each is a unix socket.
    pub(super) fn listeners_at(&self, asked: &BTreeSet<String>) -> BTreeMap<u64, bool> {
        self.listening_at(asked).map(|(at, listening)| (listening.inode, is_path(at))).collect()
    }

    fn listening_at<'a>(
        &'a self,
        asked: &'a BTreeSet<String>,
    ) -> impl Iterator<Item = (&'a str, &'a Listening)> {
        let all = self.own.listening.iter().chain(&self.unix.listening);
        let there = all.filter(|(at, _)| asked.contains(*at));
        there.flat_map(|(at, all)| all.iter().map(move |listening| (&**at, listening)))
    }

    /// What there is, if these are the programs' sockets, those of `parts` are where parts of the server listen, and the
    /// programs have connected to what was `asked` before.
    pub(super) fn of(
        mut self,
        programs: Option<&BTreeSet<u64>>,
        parts: &BTreeSet<u64>,
        asked: &mut BTreeSet<String>,
    ) -> Sockets {
        self.own.connections.extend(self.unix.connections(programs));
        // A connection within this machine has two ends: that at a port where a program listens was not made here.
        let is_made_here = |made: &&Made| !self.own.listening.contains_key(&made.from);
        let made_here = || self.own.connections.iter().filter(is_made_here);
        if let Some(programs) = programs {
            let own = made_here().filter(|made| programs.contains(&made.inode));
            asked.extend(own.map(|made| made.to.clone()));
        }
        let at_parts = self.listening_at(asked).filter(|(_, listening)| parts.contains(&listening.inode));
        let within: BTreeSet<&str> = at_parts.map(|(at, _)| at).collect();
        let is_theirs = |made: &&Made| match programs {
            Some(_) => asked.contains(&made.to) && !within.contains(&*made.to),
            None => made.is_of_tcp,
        };
        let mut outgoing: BTreeMap<String, u64> = BTreeMap::new();
        for made in made_here().filter(is_theirs) {
            *outgoing.entry(made.to.clone()).or_default() += 1;
        }
        let (mut awaited, mut unclear): (BTreeMap<String, u64>, BTreeMap<String, u64>) = Default::default();
        for made in made_here().filter(is_theirs).filter(|made| made.is_of_tcp) {
            let is_in = |all: &BTreeSet<u64>| u64::from(all.contains(&made.inode));
            *awaited.entry(made.to.clone()).or_default() += is_in(&self.own.awaited);
            *unclear.entry(made.to.clone()).or_default() += is_in(&self.own.unclear);
        }
        // Where an answer and the next question are of one tick it is not known how many are awaited.
        awaited.retain(|to, _| unclear[to] * MOST_UNCLEAR <= outgoing.get(to).copied().unwrap_or(0));
        let (mut unaccepted, mut unaccepted_within) = (BTreeMap::new(), BTreeMap::new());
        for (at, listening) in self.listening_at(asked) {
            let unaccepted = if within.contains(at) { &mut unaccepted_within } else { &mut unaccepted };
            *unaccepted.entry(at.to_owned()).or_default() += listening.unaccepted;
        }
        let knows_outgoing = self.sockets.knows_outgoing && programs.is_some();
        Sockets {
            outgoing,
            outgoing_awaited: awaited,
            outgoing_unaccepted: unaccepted,
            parts_unaccepted: unaccepted_within,
            knows_outgoing,
            ..self.sockets
        }
    }
}

impl Sockets {
    /// Counts a socket.
    fn count(&mut self, socket: &[u8], ports: &[u16], own: &mut Own) -> Option<()> {
        let (from, to) = (port_at(socket, SOURCE_PORT)?, port_at(socket, DESTINATION_PORT)?);
        let bytes = |at| u32_at(socket, at).map(u64::from);
        let state = *socket.get(kernel::STATE)?;
        if state == kernel::LISTEN {
            // Of a listening socket the two queues are the length of its accept queue, and the most that it may be.
            let (inode, unaccepted) = (bytes(INODE)?, bytes(kernel::READ_QUEUE)?);
            if ports.contains(&from) {
                own.listeners.insert(inode);
                self.unaccepted += unaccepted;
                self.room += bytes(kernel::WRITE_QUEUE)?;
            }
            own.listening.entry(from.to_string()).or_default().push(Listening { inode, unaccepted });
        } else if ports.contains(&from) {
            self.unread += u64::from(bytes(kernel::READ_QUEUE)? > 0);
            self.unsent_bytes += bytes(kernel::WRITE_QUEUE)?;
            if let Some(sending) = sending(socket) {
                let cookie = socket.get(kernel::COOKIE..kernel::COOKIE + 8)?.try_into().ok()?;
                self.has_bytes |= sending.bytes > 0;
                self.sending.insert(u64::from_ne_bytes(cookie), sending);
            }
            if state == kernel::ESTABLISHED {
                self.count_owed(socket)?;
            }
        } else if !ports.contains(&to) && kernel::UNDER_WAY.contains(&state) {
            let (from, to) = (from.to_string(), to.to_string());
            let inode = bytes(INODE)?;
            match if state == kernel::ESTABLISHED { turn(socket)? } else { Turn::Theirs } {
                Turn::Theirs => drop(own.awaited.insert(inode)),
                Turn::Unclear(_) => drop(own.unclear.insert(inode)),
                Turn::Ours | Turn::Free => {}
            }
            own.connections.push(Made { from, to, inode, is_of_tcp: true });
        }
        Some(())
    }

    /// Counts a connection to the ports, by whose turn it is.
    fn count_owed(&mut self, socket: &[u8]) -> Option<()> {
        // What waits to be accepted has no owner yet.
        if u32_at(socket, INODE)? == 0 {
            return Some(());
        }
        self.unattended += u64::from(is_unread(socket)?);
        match turn(socket)? {
            Turn::Ours => self.owed += 1,
            Turn::Theirs | Turn::Free => self.idle += 1,
            Turn::Unclear(millis) if millis < FOLLOWS => self.owed += 1,
            Turn::Unclear(_) => self.idle += 1,
        }
        Some(())
    }
}

/// Whether this is the path of a unix socket or its name, rather than a port.
fn is_path(at: &str) -> bool {
    at.starts_with(['/', '@'])
}

/// Sockets that are not at the ports.
#[derive(Default)]
struct Own {
    /// Ports on which somebody listens.
    listening: BTreeMap<String, Vec<Listening>>,
    /// Those that listen at the ports.
    listeners: BTreeSet<u64>,
    connections: Vec<Made>,
    /// Those on which the other side is to send, or that it has yet to accept; and those of which that is not known.
    awaited: BTreeSet<u64>,
    unclear: BTreeSet<u64>,
}

impl Counters {
    fn parse(netstat: &str, snmp: &str) -> Self {
        let of = |text: &str, group: &str, name: &str| figure(text, group, name).unwrap_or(0);
        Self {
            listen_overflows: of(netstat, "TcpExt:", "ListenOverflows"),
            listen_drops: of(netstat, "TcpExt:", "ListenDrops"),
            syn_queue_full: of(netstat, "TcpExt:", "TCPReqQFullDrop")
                + of(netstat, "TcpExt:", "TCPReqQFullDoCookies"),
            segments: of(snmp, "Tcp:", "OutSegs"),
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
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream, UdpSocket};
    use std::os::fd::AsRawFd;
    use std::os::unix::net::{UnixListener, UnixStream};
    use std::thread;
    use std::time::Duration;

    use super::*;

    #[test]
    fn counters_are_found_by_their_names() {
        let netstat =
            "TcpExt: TW ListenOverflows ListenDrops TCPSynRetrans\nTcpExt: 1 20 30 4\nIpExt: A\nIpExt: 9\n";
        let snmp = "Ip: A\nIp: 3\nTcp: InSegs RetransSegs OutSegs\nTcp: 7 50 600\n";
        let counters = Counters::parse(netstat, snmp);
        let expected = Counters {
            listen_overflows: 20,
            listen_drops: 30,
            segments: 600,
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

    fn inode(socket: &dyn AsRawFd) -> u64 {
        let link = fs::read_link(format!("/proc/self/fd/{}", socket.as_raw_fd())).unwrap();
        super::super::descriptors::inode(link.to_str().unwrap()).unwrap()
    }

    /// Real ones: a unix socket with one connection that was accepted and one that was not, and a socket of UDP.
    #[test]
    fn what_is_asked_need_not_be_at_a_port_of_tcp() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("app.sock");
        let listener = UnixListener::bind(&path).unwrap();
        let asking = UnixStream::connect(&path).unwrap();
        let _accepted = listener.accept().unwrap();
        let _waiting = UnixStream::connect(&path).unwrap();
        let [resolver, asks] = [(); 2].map(|()| UdpSocket::bind("127.0.0.1:0").unwrap());
        asks.connect(resolver.local_addr().unwrap()).unwrap();
        let looked = || Looked::read(Some(&mut Netlink::diagnosis().unwrap()), &[]);
        let own = BTreeSet::from([inode(&asking), inode(&asks)]);
        let mut asked = BTreeSet::new();
        let sockets = looked().of(Some(&own), &BTreeSet::new(), &mut asked);
        let path = path.to_str().unwrap().to_owned();
        let udp = format!("udp:{}", resolver.local_addr().unwrap().port());
        assert_eq!(sockets.outgoing, BTreeMap::from([(path.clone(), 1), (udp.clone(), 1)]));
        assert_eq!(sockets.outgoing_unaccepted, BTreeMap::from([(path.clone(), 1)]));
        assert_eq!(asked, BTreeSet::from([path.clone(), udp.clone()]));
        assert!(
            sockets.knows_outgoing
                && !looked().of(None, &BTreeSet::new(), &mut BTreeSet::new()).knows_outgoing
        );
        let parts = BTreeSet::from([inode(&listener)]);
        let sockets = looked().of(Some(&own), &parts, &mut asked);
        assert_eq!(sockets.outgoing.keys().collect::<Vec<_>>(), [&udp]);
        assert_eq!(sockets.parts_unaccepted, BTreeMap::from([(path.clone(), 1)]));
        assert_eq!(looked().listeners_at(&asked), BTreeMap::from([(inode(&listener), true)]));
        // Of others' nothing is known.
        assert!(
            looked()
                .of(None, &BTreeSet::new(), &mut BTreeSet::new())
                .outgoing
                .keys()
                .all(|to| to.parse::<u16>().is_ok())
        );
    }

    /// A real connection on which something was asked, and is answered later.
    #[test]
    fn answers_of_others_are_awaited() {
        let there = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = there.local_addr().unwrap().port().to_string();
        let mut asking = TcpStream::connect(there.local_addr().unwrap()).unwrap();
        let (mut answers, _) = there.accept().unwrap();
        let own = BTreeSet::from([inode(&asking)]);
        let mut asked = BTreeSet::from([port.clone()]);
        let mut awaited = || {
            let looked = Looked::read(Some(&mut Netlink::diagnosis().unwrap()), &[]);
            looked.of(Some(&own), &BTreeSet::new(), &mut asked).outgoing_awaited.get(&port).copied()
        };
        assert_eq!(awaited(), Some(0));
        asking.write_all(b"SELECT 1").unwrap();
        assert_eq!(awaited(), Some(1));
        thread::sleep(Duration::from_millis(20));
        assert_eq!(awaited(), Some(1));
        answers.write_all(b"1").unwrap();
        thread::sleep(Duration::from_millis(20));
        assert_eq!(awaited(), Some(0));
        // The second time what was sent before has been answered.
        asking.read_exact(&mut [0; 1]).unwrap();
        asking.write_all(b"SELECT 1").unwrap();
        thread::sleep(Duration::from_millis(20));
        assert_eq!(awaited(), Some(1));
    }

    /// Real connections: one to the port on which something lies unread, and one to somewhere else.
    #[test]
    fn data_in_sockets_and_connections_to_others_are_seen() {
        let [here, there] = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
        let port = |listener: &TcpListener| listener.local_addr().unwrap().port();
        let mut client = TcpStream::connect(here.local_addr().unwrap()).unwrap();
        let (mut server, _) = here.accept().unwrap();
        let outgoing = TcpStream::connect(there.local_addr().unwrap()).unwrap();
        let _back_end = there.accept().unwrap();
        let looked = || Looked::read(Some(&mut Netlink::diagnosis().unwrap()), &[port(&here)]);
        let look = || looked().of(None, &BTreeSet::new(), &mut BTreeSet::new());
        let before = look();
        let there_at = port(&there).to_string();
        assert_eq!((before.unaccepted, before.room), (0, 128));
        assert_eq!((before.unread, before.outgoing.get(&there_at)), (0, Some(&1)));
        let others =
            [port(&here), client.local_addr().unwrap().port(), outgoing.local_addr().unwrap().port()];
        assert!(!others.iter().any(|port| before.outgoing.contains_key(&port.to_string())), "{before:?}");
        assert!(looked().listeners().contains(&inode(&here)));
        let made = |by: &dyn AsRawFd| {
            looked()
                .of(Some(&[inode(by)].into()), &BTreeSet::new(), &mut BTreeSet::new())
                .outgoing
                .get(&there_at)
                .copied()
        };
        assert_eq!((made(&outgoing), made(&client)), (Some(1), None), "whose it is");
        assert!(before.ports > 0 && before.ports_used >= 2, "{before:?}");
        assert_eq!((before.idle, before.owed), (1, 0), "nothing has come");
        client.write_all(b"GET").unwrap();
        testkit::poll_until(testkit::PATIENCE, "data to arrive", || (look().unread == 1).then_some(()));
        assert_eq!((look().idle, look().owed, look().unattended), (0, 1, 1));
        // It is owed until something is sent, not until it is read.
        server.read_exact(&mut [0; 3]).unwrap();
        thread::sleep(Duration::from_millis(20));
        assert_eq!((look().idle, look().owed, look().unattended), (0, 1, 0));
        server.write_all(b"200").unwrap();
        assert_eq!((look().idle, look().owed), (1, 0));
        let _waiting = TcpStream::connect(here.local_addr().unwrap()).unwrap();
        assert_eq!(look().unaccepted, 1);
    }
}
