//! [`Server`]: which processes listen on a port, and what is known about the program they run.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use procfs::net::TcpState;
use procfs::process::{FDTarget, all_processes};

use crate::Error;
use crate::processes::kept;

/// Who listens on some of the ports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// Its name, as `ps -o comm` shows it.
    pub program: String,
    /// One of its processes.
    pub process: u32,
    /// The file that it runs, as the process itself sees it.
    pub executable: PathBuf,
    /// The ports.
    pub ports: Vec<u16>,
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
    pub(super) fn symbol(&self) -> Option<&'static str> {
        PARSED.iter().find(|(file, _)| *file == self.file).map(|(_, symbol)| *symbol)
    }

    /// Whether the process is still there and runs the same file.
    pub(super) fn is_there(&self) -> bool {
        file_name(&self.executable) == self.file
    }
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ports: Vec<_> = self.ports.iter().map(u16::to_string).collect();
        let Self { program, process, .. } = self;
        write!(f, "port {}: {program}, process {process}, requests told apart by ", ports.join(", "))?;
        match self.symbol() {
            Some(symbol) => write!(f, "its function {symbol}"),
            None => f.write_str("what it receives and sends"),
        }
    }
}

/// The name of the file that a process runs; of one that has been replaced since, the name it had.
fn file_name(executable: &Path) -> String {
    let file = std::fs::read_link(executable).unwrap_or_default();
    let file = file.file_name().unwrap_or_default().to_string_lossy();
    file.trim_end_matches(" (deleted)").to_owned()
}

/// Who listens on these ports, or, when there are none, on which ports processes of these names do. In the
/// order of their ports.
///
/// # Errors
/// When `/proc` cannot be read.
pub fn find(programs: &[String], ports: &[u16]) -> Result<Vec<Server>, Error> {
    let mut listening = BTreeMap::new();
    for entry in procfs::net::tcp()?.into_iter().chain(procfs::net::tcp6().unwrap_or_default()) {
        let port = entry.local_address.port();
        if entry.state == TcpState::Listen && (ports.is_empty() || ports.contains(&port)) {
            listening.insert(entry.inode, port);
        }
    }
    let mut servers: BTreeMap<(u16, String), (u64, Server)> = BTreeMap::new();
    for process in all_processes()?.flatten() {
        let (Ok(stat), Ok(descriptors)) = (process.stat(), process.fd()) else { continue };
        if ports.is_empty() && !programs.iter().any(|name| kept(name) == stat.comm.as_bytes()) {
            continue;
        }
        let mut held: Vec<u16> = Vec::new();
        for descriptor in descriptors.flatten() {
            if let FDTarget::Socket(inode) = descriptor.target
                && let Some(port) = listening.get(&inode)
                && !held.contains(port)
            {
                held.push(*port);
            }
        }
        held.sort_unstable();
        let Some(first) = held.first() else { continue };
        let executable = PathBuf::from(format!("/proc/{}/exe", stat.pid));
        let file = file_name(&executable);
        let server = Server {
            program: stat.comm.clone(),
            process: stat.pid as u32,
            executable,
            ports: held.clone(),
            file: file.clone(),
        };
        // Its oldest process is likely to outlive the others.
        let oldest = servers.entry((*first, file)).or_insert_with(|| (stat.starttime, server.clone()));
        if stat.starttime < oldest.0 {
            *oldest = (stat.starttime, server);
        }
    }
    Ok(servers.into_values().map(|(_, server)| server).collect())
}
