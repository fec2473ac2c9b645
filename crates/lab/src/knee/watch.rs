//! [`Watch`]: the monitor, beside a search, where the server runs on this machine.

use std::ffi::OsString;
use std::net::{IpAddr, ToSocketAddrs};
use std::path::Path;
use std::time::Duration;

use super::{Search, WATCH};
use crate::Stop;
use crate::process::Process;
use crate::testbed::Testbed;

/// A look is this long after another: several in each probe.
const INTERVAL: &str = "200ms";
/// How long it may take to write what it saw.
const WRITING: Duration = Duration::from_secs(20);
/// How its table begins, which it writes when it has begun.
const BEGUN: &str = "  user%";

/// `headworks watch`, as a process.
pub(super) struct Watch(Process);

impl Watch {
    /// Begins to watch whoever listens on the URL's port; nothing where that is on another machine, or where it
    /// cannot be: the search goes on without it.
    pub(super) fn begin(search: &Search, testbed: &Testbed, root: &Path, stop: &Stop) -> Option<Self> {
        // The generator then goes somewhere else than the URL says.
        let elsewhere = |word: &OsString| {
            ["--connect-to", "--unix-socket"].iter().any(|option| word.to_string_lossy().starts_with(option))
        };
        if search.load.iter().any(elsewhere) {
            return None;
        }
        let (addresses, port) = addresses(&search.url)?;
        if !addresses.iter().any(|address| testbed.has(*address)) {
            return None;
        }
        std::fs::create_dir_all(root).ok()?;
        let mut command = testbed.observer(&search.headworks);
        command.args(["watch", "--plain", "--budget", "none", "--group", "requests=off"]);
        // Its walk waits for connections that the kernel has locked, and the limits have what is needed of it.
        command.args(["--group", "connections=off"]);
        command.args(["--interval", INTERVAL, "--group", &format!("limits={INTERVAL}")]);
        command.args(["--port", &port.to_string()]).arg("--out").arg(root.join(WATCH));
        let mut process = Process::start("watch", command, &root.join("watch.log")).ok()?;
        process.wait_for_line(BEGUN, stop).ok()?;
        Some(Self(process))
    }

    pub(super) fn end(&mut self) {
        self.0.interrupt(WRITING);
    }
}

/// Addresses and port of a URL.
fn addresses(url: &str) -> Option<(Vec<IpAddr>, u16)> {
    let (scheme, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let port = if scheme == "https" { 443 } else { 80 };
    let with_port = match authority.rsplit_once(':') {
        Some((_, port)) if !port.ends_with(']') => authority.to_owned(),
        _ => format!("{authority}:{port}"),
    };
    let addresses: Vec<_> = with_port.to_socket_addrs().ok()?.collect();
    let port = addresses.first()?.port();
    Some((addresses.into_iter().map(|address| address.ip()).collect(), port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_taken_apart() {
        for (url, expected) in [
            ("http://127.0.0.1:8080/a?b", Some(("127.0.0.1", 8080))),
            ("http://127.0.0.1", Some(("127.0.0.1", 80))),
            ("http://me:secret@127.0.0.1:8080/", Some(("127.0.0.1", 8080))),
            ("https://127.0.0.2/", Some(("127.0.0.2", 443))),
            ("http://[::1]:81/x", Some(("::1", 81))),
            ("127.0.0.1:80", None),
        ] {
            let expected = expected.map(|(address, port)| (vec![address.parse().unwrap()], port));
            assert_eq!(addresses(url), expected, "{url}");
        }
    }
}
