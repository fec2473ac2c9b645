//! The few requests that the lab itself makes: is the server there, what is it, what does the gate count.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

use http1::fields::{room, values};
use http1::response::{Head, Strictness};
use testbed::Testbed;

/// How long one of these requests may take.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Bytes of a response: more than any page or metrics listing that is asked for here.
const MAX_RESPONSE: u64 = 4 << 20;

/// Header lines of a response.
const MAX_LINES: usize = 100;

/// What came back.
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// What `Server` says, if anything.
    pub(crate) server: String,
    pub(crate) body: String,
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
    let mut stream = TcpStream::connect_timeout(&address, TIMEOUT).ok()?;
    stream.set_read_timeout(Some(TIMEOUT)).ok()?;
    stream.set_write_timeout(Some(TIMEOUT)).ok()?;
    stream
        .write_all(
            format!("GET {path} HTTP/1.0\r\nHost: {authority}\r\nConnection: close\r\n\r\n").as_bytes(),
        )
        .ok()?;
    let mut bytes = Vec::new();
    stream.take(MAX_RESPONSE).read_to_end(&mut bytes).ok()?;
    read(&bytes)
}

/// A response that ends with the connection.
fn read(bytes: &[u8]) -> Option<Answer> {
    let mut room = room::<MAX_LINES>();
    let head = Head::parse(bytes, &mut room, Strictness::Lenient).ok()??;
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    let server = values(head.fields, "server").next().map(text).unwrap_or_default();
    Some(Answer { status: head.status.as_u16(), server, body: text(bytes.get(head.length..)?) })
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
