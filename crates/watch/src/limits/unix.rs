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

/// Streams between unix sockets (unix(7)).
#[derive(Default)]
pub(super) struct Unix {
    /// By the path, or the name with an @ before it.
    pub(super) listening: BTreeMap<String, Listening>,
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
                self.listening.insert(name, Listening { inode, unaccepted });
            }
            (_, Some(name)) => {
                self.named.insert(inode, name);
            }
            (_, None) => {
                let peer = attribute(kernel::UNIX_PEER).and_then(|peer| u32_at(peer, 0));
                self.unnamed.extend(peer.map(|peer| (inode, u64::from(peer))));
            }
        }
        Some(())
    }

    /// Those that the programs have made; what waits to be accepted has no number yet, and is that listener's.
    pub(super) fn connections(&self, programs: Option<&BTreeSet<u64>>) -> Vec<Made> {
        let own = self.unnamed.iter().filter(|(inode, _)| programs.is_some_and(|all| all.contains(inode)));
        let named = own.filter_map(|(inode, peer)| Some((*inode, self.named.get(peer)?)));
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
