//! [`Server`]: which processes listen at an address, and what is known about the program they run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fmt, fs};

use procfs::net::{TcpNetEntry, TcpState};
use procfs::process::{FDTarget, Process, all_processes};
use rustix::net::SocketType;

use crate::Error;
use crate::addresses::Addresses;
use crate::names::kept;

/// Who listens at some of the addresses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// Its name, as `ps -o comm` shows it.
    pub program: String,
    /// One of its processes.
    pub process: u32,
    /// The file that it runs, as the process itself sees it.
    pub executable: PathBuf,
    /// Where.
    pub at: Addresses,
    /// The name of the file that it runs.
    pub file: String,
}

/// Functions that are called once for each request, when its header has been parsed. The binaries name them
/// for their modules, so that no debugging symbols are needed. They begin with a `push`, which the kernel
/// emulates; where it has to be stepped over, a probe costs several times as much.
const PARSED: [(&str, &str); 4] = [
    // server/mpm/prefork, worker and event; modules/http/http_request.c
    ("apache2", "ap_process_async_request"),
    ("httpd", "ap_process_async_request"),
    // src/http/ngx_http_request.c
    ("nginx", "ngx_http_process_request"),
    ("openresty", "ngx_http_process_request"),
];

impl Server {
    /// The function of its binary that tells when a header has been parsed, if it is one of those that are
    /// known.
    pub(crate) fn symbol(&self) -> Option<&'static str> {
        PARSED.iter().find(|(file, _)| *file == self.file).map(|(_, symbol)| *symbol)
    }

    /// Whether the process is still there and runs the same file.
    pub(crate) fn is_there(&self) -> bool {
        file_name(&self.executable) == self.file
    }
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { program, process, at, .. } = self;
        let names = at.names().join(", ");
        if at.ports.is_empty() {
            return write!(
                f,
                "unix socket {names}: {program}, process {process}, requests counted by what it sends; phases are seen at ports alone"
            );
        }
        write!(f, "port {names}: {program}, process {process}, requests told apart by ")?;
        match self.symbol() {
            Some(symbol) => write!(f, "its function {symbol}"),
            None => f.write_str("what it receives and sends"),
        }
    }
}

/// The name of the file that a process runs; of one that has been replaced since, the name it had.
fn file_name(executable: &Path) -> String {
    let file = fs::read_link(executable).unwrap_or_default();
    let file = file.file_name().unwrap_or_default().to_string_lossy();
    file.trim_end_matches(" (deleted)").to_owned()
}

/// A process with a socket that listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Holder {
    pub(crate) process: u32,
    pub(crate) name: String,
    /// Where, in order.
    pub(crate) at: Addresses,
    started: u64,
}

/// All processes that listen there, or anywhere if nothing is given; only of these processes, if some are given, and in their network namespace
/// then.
///
/// # Errors
/// When `/proc` cannot be read.
pub(crate) fn holders(at: &Addresses, among: Option<&BTreeSet<u32>>) -> Result<Vec<Holder>, Error> {
    let listening = listening(at, among)?;
    let mut holders = Vec::new();
    for process in all_processes()?.flatten() {
        if among.is_some_and(|among| !among.contains(&(process.pid() as u32))) {
            continue;
        }
        let (Ok(stat), Ok(descriptors)) = (process.stat(), process.fd()) else { continue };
        let mut at = Addresses::default();
        for descriptor in descriptors.flatten() {
            let FDTarget::Socket(inode) = descriptor.target else { continue };
            match listening.get(&inode) {
                Some(Listening::Port(port)) => at.ports.push(*port),
                Some(Listening::Socket(path)) => at.sockets.push(path.clone()),
                None => {}
            }
        }
        at.settle();
        if !at.is_empty() {
            holders.push(Holder { process: stat.pid as u32, name: stat.comm, at, started: stat.starttime });
        }
    }
    Ok(holders)
}

/// Where a socket listens.
enum Listening {
    Port(u16),
    Socket(String),
}

/// The sockets that do, by their numbers.
fn listening(at: &Addresses, among: Option<&BTreeSet<u32>>) -> Result<BTreeMap<u64, Listening>, Error> {
    let mut listening = BTreeMap::new();
    if at.is_empty() || !at.ports.is_empty() {
        for entry in sockets(among)? {
            let port = entry.local_address.port();
            if entry.state == TcpState::Listen && (at.is_empty() || at.ports.contains(&port)) {
                listening.insert(entry.inode, Listening::Port(port));
            }
        }
    }
    if at.is_empty() || !at.sockets.is_empty() {
        let wanted = |path: &String| at.is_empty() || at.sockets.contains(path);
        let all = unix_sockets(among).into_iter().filter(|(_, path)| wanted(path));
        listening.extend(all.map(|(inode, path)| (inode, Listening::Socket(path))));
    }
    Ok(listening)
}

/// Unix sockets that listen, by their numbers, with their names; none where they are not told.
fn unix_sockets(among: Option<&BTreeSet<u32>>) -> Vec<(u64, String)> {
    let text = match among {
        None => fs::read("/proc/net/unix").ok(),
        // Any of them may have ended.
        Some(among) => among.iter().find_map(|process| fs::read(format!("/proc/{process}/net/unix")).ok()),
    };
    let text = text.unwrap_or_default();
    String::from_utf8_lossy(&text).lines().filter_map(unix_socket).collect()
}

/// A line of `/proc/net/unix` (net/unix/af_unix.c, `unix_seq_show`), if it is of a stream that listens and has a name, in which there may be spaces.
fn unix_socket(line: &str) -> Option<(u64, String)> {
    const LISTENS: u32 = 0x10000;
    let mut rest = line;
    let mut field = || {
        let (field, behind) = rest.trim_start().split_once(' ')?;
        rest = behind;
        Some(field)
    };
    let [_, _, _, flags, kind, _] = [(); 6].map(|()| field());
    let inode = field()?.parse().ok()?;
    let is_stream = u32::from_str_radix(kind?, 16).ok()? == SocketType::STREAM.as_raw();
    let listens = u32::from_str_radix(flags?, 16).ok()? & LISTENS != 0;
    (is_stream && listens).then(|| (inode, rest.to_owned()))
}

/// All sockets of TCP of this network namespace, or of that of these processes; none when all of them have ended.
fn sockets(among: Option<&BTreeSet<u32>>) -> Result<Vec<TcpNetEntry>, Error> {
    let Some(among) = among else {
        let of_6 = procfs::net::tcp6().unwrap_or_default();
        return Ok(procfs::net::tcp()?.into_iter().chain(of_6).collect());
    };
    // Any of them may have ended.
    let of_process = |process: &u32| {
        let process = Process::new(*process as i32).ok()?;
        Some((process.tcp().ok()?, process.tcp6().unwrap_or_default()))
    };
    let (of_4, of_6) = among.iter().find_map(of_process).unwrap_or_default();
    Ok(of_4.into_iter().chain(of_6).collect())
}

/// Who listens there, or, when nothing is given, where processes of these names do, or any of those that are given. In the order of their ports.
///
/// # Errors
/// When `/proc` cannot be read.
pub fn find(
    programs: &[String],
    at: &Addresses,
    among: Option<&BTreeSet<u32>>,
) -> Result<Vec<Server>, Error> {
    // By the first of each and the file.
    let mut servers: BTreeMap<_, (u64, Server)> = BTreeMap::new();
    for Holder { process, name, at: held, started } in holders(at, among)? {
        let is_named = programs.iter().any(|program| kept(program) == name.as_bytes());
        if at.is_empty() && among.is_none() && !is_named {
            continue;
        }
        let (port, socket) = (held.ports.first().copied(), held.sockets.first().cloned());
        let executable = PathBuf::from(format!("/proc/{process}/exe"));
        let file = file_name(&executable);
        let server = Server { program: name, process, executable, at: held, file: file.clone() };
        // Its oldest process is likely to outlive the others.
        let oldest = servers.entry((port, socket, file)).or_insert_with(|| (started, server.clone()));
        if started < oldest.0 {
            *oldest = (started, server);
        }
    }
    Ok(servers.into_values().map(|(_, server)| server).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sockets_that_listen_are_known_by_their_lines() {
        let listens = "ffff8881a2b3c400: 00000002 00000000 00010000 0001 01 31337 /run/my app.sock";
        assert_eq!(unix_socket(listens), Some((31337, "/run/my app.sock".to_owned())));
        let abstract_one = "ffff8881a2b3c400: 00000002 00000000 00010000 0001 01   421 @name";
        assert_eq!(unix_socket(abstract_one), Some((421, "@name".to_owned())));
        for other in [
            "Num       RefCount Protocol Flags    Type St Inode Path",
            "ffff8881a2b3c400: 00000003 00000000 00000000 0001 03 31338 /run/my app.sock",
            "ffff8881a2b3c400: 00000002 00000000 00010000 0005 01 31339 /run/packets.sock",
            "ffff8881a2b3c400: 00000002 00000000 00010000 0001 01 31340",
        ] {
            assert_eq!(unix_socket(other), None, "{other}");
        }
    }
}
