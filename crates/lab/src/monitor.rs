//! [`Monitor`]: the monitor, beside a test, where the server runs on this machine.

use std::net::{IpAddr, ToSocketAddrs};
use std::path::Path;
use std::time::Duration;

use record::search::WATCH;
use units::Span;

use testbed::Process;
use testbed::Stop;
use testbed::Testbed;

/// How long it may take to write what it saw.
const WRITE_TIMEOUT: Duration = Duration::from_secs(20);
/// How its table begins, which it writes when it has begun.
const BEGUN: &str = "  user%";

/// `headworks watch`, as a process.
pub(crate) struct Monitor(Process);

impl Monitor {
    /// Begins to watch the program that listens on the URL's port, with a look at each interval; nothing where that is on another
    /// machine, or where it cannot be: the test goes on without it.
    pub(crate) fn begin(
        headworks: &Path,
        url: &str,
        interval: Span,
        testbed: &Testbed,
        root: &Path,
        stop: &Stop,
    ) -> Option<Self> {
        let (addresses, port) = addresses(url)?;
        let interval = interval.to_string();
        if !addresses.iter().any(|address| testbed.has(*address)) {
            return None;
        }
        std::fs::create_dir_all(root).ok()?;
        let mut command = testbed.observer(headworks);
        command.args(["watch", "--plain", "--budget", "none", "--group", "requests=off"]);
        // Its walk waits for connections that the kernel has locked, and the limits have what is needed of it.
        command.args(["--group", "connections=off"]);
        command.args(["--interval", &interval, "--group", &format!("limits={interval}")]);
        command.args(["--port", &port.to_string()]).arg("--out").arg(root.join(WATCH));
        let mut process = Process::start("watch", command, &root.join("watch.log")).ok()?;
        process.wait_for_line(BEGUN, stop).ok()?;
        Some(Self(process))
    }

    pub(crate) fn end(&mut self) {
        self.0.interrupt(WRITE_TIMEOUT);
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
