//! [`Unix`]: streams between unix sockets.

use std::collections::{BTreeMap, BTreeSet};

use super::made::{Listening, Made};
use crate::netlink::{attributes, u32_at};

/// From `linux/unix_diag.h` and `net/tcp_states.h`.
mod kernel {
    pub(super) const LISTEN: u8 = 10;
    /// Of `struct unix_diag_msg` and its attributes (`linux/unix_diag.h`).
    pub(super) const SOCK_STREAM: u8 = 1;
    pub(super) const UNIX_TYPE: usize = 1;
    pub(super) const UNIX_STATE: usize = 2;
    pub(super) const UNIX_INODE: usize = 4;
    pub(super) const UNIX_END: usize = 16;
    pub(super) const UNIX_NAME: u16 = 0;
    pub(super) const UNIX_PEER: u16 = 2;
    pub(super) const UNIX_QUEUES: u16 = 4;
}

/// Where services of the system listen that each program may be connected to.
const OF_THE_SYSTEM: [&str; 4] = ["/run/systemd/", "/run/dbus/", "/var/run/dbus/", "/run/user/"];

/// Streams between unix sockets (unix(7)).
#[derive(Default)]
pub(super) struct Unix {
    /// By the path, or the name with an @ before it.
    pub(super) listening: BTreeMap<String, Vec<Listening>>,
    /// The path of each connected socket that has one: who accepts has that of the socket that listens.
    named: BTreeMap<u64, String>,
    /// The number of each other one, and that of its peer.
    unnamed: Vec<(u64, u64)>,
}

impl Unix {
    pub(super) fn add(&mut self, socket: &[u8]) -> Option<()> {
        if *socket.get(kernel::UNIX_TYPE)? != kernel::SOCK_STREAM {
            return Some(());
        }
        let inode = u64::from(u32_at(socket, kernel::UNIX_INODE)?);
        let rest = socket.get(kernel::UNIX_END..)?;
        let attribute = |wanted| attributes(rest).find(|(kind, _)| *kind == wanted).map(|(_, value)| value);
        let name = attribute(kernel::UNIX_NAME).map(path).filter(|name| !name.is_empty());
        match (*socket.get(kernel::UNIX_STATE)?, name) {
            (kernel::LISTEN, Some(name)) => {
                let unaccepted = attribute(kernel::UNIX_QUEUES).and_then(|queues| u32_at(queues, 0));
                let unaccepted = u64::from(unaccepted.unwrap_or(0));
                self.listening.entry(name).or_default().push(Listening { inode, unaccepted });
            }
            // What waits to be accepted has no number, which would be that of all.
            (_, Some(name)) if inode != 0 => {
                self.named.insert(inode, name);
            }
            (_, Some(_)) => {}
            (_, None) => {
                let peer = attribute(kernel::UNIX_PEER).and_then(|peer| u32_at(peer, 0));
                self.unnamed.extend(peer.map(|peer| (inode, u64::from(peer))));
            }
        }
        Some(())
    }

    /// Those that the programs have made and that were accepted; how many were not is known of who listens. What a service
    /// writes to the journal, or says to the bus, it does not wait for.
    pub(super) fn connections(&self, programs: Option<&BTreeSet<u64>>) -> Vec<Made> {
        let own = self.unnamed.iter().filter(|(inode, _)| programs.is_some_and(|all| all.contains(inode)));
        let named = own.filter_map(|(inode, peer)| Some((*inode, self.named.get(peer)?)));
        let named = named.filter(|(_, to)| !OF_THE_SYSTEM.iter().any(|place| to.starts_with(place)));
        named
            .map(|(inode, to)| Made { from: String::new(), to: to.clone(), inode, is_of_tcp: false })
            .collect()
    }
}

/// A path; of an abstract name, which begins with a zero, as ss(8) shows it.
fn path(name: &[u8]) -> String {
    let name = name.strip_suffix(&[0]).unwrap_or(name);
    String::from_utf8_lossy(name).replace('\0', "@")
}
