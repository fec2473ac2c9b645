//! The few requests that the lab itself makes: is the server there, what is it, what does the gate count.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

use testbed::Testbed;

/// How long one of these requests may take.
const PATIENCE: Duration = Duration::from_secs(2);

/// More than any page or metrics listing that is asked for here.
const LONGEST: u64 = 4 << 20;

/// What came back.
pub(crate) struct Answer {
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
}

/// Host and port of `http://HOST[:PORT][/]`; `None` when it is something else.
pub(crate) fn authority(url: &str) -> Option<String> {
    let authority = url.strip_prefix("http://")?.trim_end_matches('/');
    let port = authority.rsplit_once(':').map(|(_, port)| port);
    match port {
        _ if authority.is_empty() || authority.contains(['/', '?', '#', '@', ' ']) => None,
        Some(port) if !port.ends_with(']') => port.parse::<u16>().ok().map(|_| authority.to_owned()),
        _ => Some(format!("{authority}:80")),
    }
}

/// Asks for `path`. HTTP/1.0, so that the answer ends with the connection and is never chunked.
pub(crate) fn get(authority: &str, path: &str) -> Option<Answer> {
    let address: SocketAddr = authority.to_socket_addrs().ok()?.next()?;
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    stream.set_write_timeout(Some(PATIENCE)).ok()?;
    stream
        .write_all(
            format!("GET {path} HTTP/1.0\r\nHost: {authority}\r\nConnection: close\r\n\r\n").as_bytes(),
        )
        .ok()?;
    let mut bytes = Vec::new();
    stream.take(LONGEST).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let (head, body) = text.split_once("\r\n\r\n")?;
    head.starts_with("HTTP/1.").then(|| Answer { head: head.to_owned(), body: body.to_owned() })
}

/// Asks for `path` over a testbed: the server as the generator would.
pub(crate) fn from(testbed: &Testbed, authority: &str, path: &str) -> Option<Answer> {
    testbed.reach(authority, || get(authority, path))
}

#[cfg(test)]
mod tests {
    use super::authority;

    #[test]
    fn servers_are_named_by_host_and_port() {
        for (url, expected) in [
            ("http://127.0.0.1:8080", Some("127.0.0.1:8080")),
            ("http://127.0.0.1:8080/", Some("127.0.0.1:8080")),
            ("http://localhost", Some("localhost:80")),
            ("http://[::1]", Some("[::1]:80")),
            ("http://[::1]:81", Some("[::1]:81")),
            ("https://localhost", None),
            ("localhost:80", None),
            ("http://", None),
            ("http://localhost:many", None),
            ("http://localhost/path", None),
        ] {
            assert_eq!(authority(url).as_deref(), expected, "{url}");
        }
    }
}
