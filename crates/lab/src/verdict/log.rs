//! What a server's own log says of what it was refused.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::Path;

/// Which libraries name EMFILE and ENFILE (errno(3)), and Node.
const DESCRIPTORS: [&str; 3] = ["too many open files", "no file descriptors available", "emfile"];
/// nginx (`ngx_get_connection`, `src/core/ngx_connection.c`); it closes what it has no place for.
const CONNECTIONS: [&str; 1] = ["worker_connections are not enough"];
/// Which libraries name EADDRNOTAVAIL (errno(3)), and HAProxy: of connections to what stands behind a server.
const PORTS: [&str; 3] = ["cannot assign requested address", "eaddrnotavail", "no free ports"];
/// nginx (`ngx_http_limit_req_module.c`, `ngx_http_limit_conn_module.c`), mod_qos (`mod_qos.c`), and what others call it.
const LIMITED: [&str; 6] = [
    "limiting requests",
    "limiting connections",
    "delaying request",
    "mod_qos",
    "rate limit",
    "too many requests",
];
/// Node watches files and calls their limit by this name as well; nginx closes idle connections before there is no
/// place left; and an address that a server cannot listen on is not a port that it lacks.
const OTHERS: [&str; 4] = ["files, watch", "reusing connections", "bind", "listen"];
/// Of its beginning and of its end: some servers write a line for every request.
const MAX_READ: u64 = 1 << 20;
const MAX_QUOTE: usize = 160;

/// The first line of each kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Refused {
    /// A descriptor.
    pub(crate) descriptors: Option<String>,
    /// A place among the connections that a worker may have.
    pub(crate) connections: Option<String>,
    /// A local port for a connection of its own.
    pub(crate) ports: Option<String>,
    /// To serve what was more than it is to serve.
    pub(crate) limited: Option<String>,
}

impl Refused {
    /// Nothing where there is no log.
    pub(crate) fn read(log: &Path) -> Self {
        let mut refused = Self::default();
        // What cannot be read says nothing.
        let _ = refused.look_at(log);
        refused
    }

    fn look_at(&mut self, log: &Path) -> io::Result<()> {
        let mut file = File::open(log)?;
        let about = file.metadata()?;
        if !about.is_file() {
            return Ok(());
        }
        self.add(&file);
        let end = file.seek(SeekFrom::Start(about.len().saturating_sub(MAX_READ).max(MAX_READ)))?;
        if end < about.len() {
            self.add(&file);
        }
        Ok(())
    }

    /// What the next so many bytes say of which nothing is known yet.
    fn add(&mut self, file: &File) {
        for line in BufReader::new(file.take(MAX_READ)).split(b'\n').map_while(Result::ok) {
            let line = String::from_utf8_lossy(&line);
            let lower = line.to_lowercase();
            if OTHERS.iter().any(|other| lower.contains(other)) {
                continue;
            }
            let kinds: [(_, &[&str]); 4] = [
                (&mut self.descriptors, &DESCRIPTORS),
                (&mut self.connections, &CONNECTIONS),
                (&mut self.ports, &PORTS),
                (&mut self.limited, &LIMITED),
            ];
            for (said, words) in kinds {
                if said.is_none() && words.iter().any(|words| is_word(&lower, words)) {
                    *said = Some(told(&line));
                }
            }
        }
    }
}

/// A line without what nginx says of the request, and the time and the names in front of what Apache says.
fn told(line: &str) -> String {
    let line = line.split_once(", client: ").map_or(line, |(line, _)| line);
    let from = ["(23)", "(24)", "(99)"].into_iter().find_map(|number| line.find(number)).unwrap_or_default();
    line[from..].chars().take(MAX_QUOTE).collect()
}

/// Whether `words` stand by themselves in it: others have names with them.
fn is_word(line: &str, words: &str) -> bool {
    line.match_indices(words).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + words.len()..].chars().next();
        ![before, after].into_iter().flatten().any(char::is_alphanumeric)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_says_it_is_found() {
        let log = tempfile::NamedTempFile::new().unwrap();
        let refused = |text: &[u8]| {
            std::fs::write(&log, text).unwrap();
            Refused::read(log.path())
        };
        let said = |text: &[u8]| refused(text).descriptors;
        let apache =
            b"\xff started\n[core:error] [pid 1:tid 2] (24)Too many open files: AH02179: apr_socket_accept\n";
        assert_eq!(said(apache).unwrap(), "(24)Too many open files: AH02179: apr_socket_accept");
        let nginx = "[crit] 7#7: accept4() failed (24: Too many open files)";
        assert_eq!(said(nginx.as_bytes()).unwrap(), nginx);
        assert_eq!(said(b"started\nended\n"), None);
        assert_eq!(said(b"GET /memfile 200\nError: EMFILE: too many open files, watch '/'\n"), None);
        assert!(said(b"Error: accept EMFILE").is_some());
        let late = [&b"GET / 200\n".repeat(300_000)[..], b"accept: Too many open files\n"].concat();
        assert_eq!(said(&late).unwrap(), "accept: Too many open files");
        let soon = "[warn] 7#7: 64 worker_connections are not enough, reusing connections";
        assert_eq!(refused(soon.as_bytes()), Refused::default());
        let full = "[alert] 7#7: 64 worker_connections are not enough";
        let expected = Refused { connections: Some(full.to_owned()), ..Refused::default() };
        assert_eq!(refused(format!("started\n{full}\n{full}\n").as_bytes()), expected);
        let behind = "[crit] 7#7: *9 connect() to 127.0.0.1:81 failed (99: Cannot assign requested address)";
        let expected = Refused { ports: Some(behind.to_owned()), ..Refused::default() };
        assert_eq!(refused(format!("{behind}, client: 127.0.0.1, server: ").as_bytes()), expected);
        let limited = "[error] 7#7: *41 limiting requests, excess: 0.9 by zone \"one\"";
        let expected = Refused { limited: Some(limited.to_owned()), ..Refused::default() };
        assert_eq!(refused(format!("{limited}, client: 127.0.0.1").as_bytes()), expected);
        assert_eq!(Refused::read(Path::new("/nonexistent")), Refused::default());
    }
}
