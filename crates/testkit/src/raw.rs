//! [`Raw`]: a client that sends bytes as they are, well-formed or not.

use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpStream};

use http1::fields::room;
use http1::response::{Asked, Framing, Head, Strictness};
use rustix::net::{AddressFamily, SocketType, bind, connect, socket};

use crate::poll::PATIENCE;

/// One connection. Reads panic after [`PATIENCE`] rather than hang the test.
#[derive(Debug)]
pub struct Raw {
    stream: TcpStream,
    unread: Vec<u8>,
}

/// A response as it came over the wire, its body delimited by `Content-Length`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// Status line and header lines, without the empty line.
    pub head: String,
    /// The body.
    pub body: Vec<u8>,
    fields: Vec<(String, String)>,
}

/// Header lines of a response.
const MAX_LINES: usize = 2000;

impl Response {
    /// The value of the first header of that name, in any case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut fields = self.fields.iter();
        fields.find_map(|(key, value)| key.eq_ignore_ascii_case(name).then_some(value.as_str()))
    }

    /// The body as text.
    #[track_caller]
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("a body of text")
    }
}

impl Raw {
    /// Connects to `address`.
    #[track_caller]
    pub fn connect(address: SocketAddr) -> Self {
        Self::over(TcpStream::connect(address).unwrap_or_else(|error| panic!("{address}: {error}")))
    }

    /// Connects to an IPv4 `address` as the client at `source`, for which all of 127.0.0.0/8 is
    /// good.
    #[track_caller]
    pub fn connect_from(source: IpAddr, address: SocketAddr) -> Self {
        let open = || {
            let socket = socket(AddressFamily::INET, SocketType::STREAM, None)?;
            bind(&socket, &SocketAddr::new(source, 0))?;
            connect(&socket, &address).map(|()| socket)
        };
        let socket = open().unwrap_or_else(|error| panic!("{address} from {source}: {error}"));
        Self::over(TcpStream::from(socket))
    }

    fn over(stream: TcpStream) -> Self {
        stream.set_read_timeout(Some(PATIENCE)).expect("a time that is not zero");
        stream.set_nodelay(true).expect("an open socket");
        Self { stream, unread: Vec::new() }
    }

    /// Sends bytes. Whether the other side still takes them is for the test to find out by reading.
    pub fn send(&mut self, bytes: impl AsRef<[u8]>) -> &mut Self {
        let _ = self.stream.write_all(bytes.as_ref());
        self
    }

    /// Sends `GET path` to `localhost` over this connection, which stays open.
    pub fn get(&mut self, path: &str) -> &mut Self {
        self.send(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n"))
    }

    /// Tells the other side that nothing more will come, as a half-closed connection does.
    pub fn finish_sending(&mut self) -> &mut Self {
        let _ = self.stream.shutdown(Shutdown::Write);
        self
    }

    /// The underlying stream, for what has no helper here.
    pub fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// Reads one response to a request other than HEAD.
    #[track_caller]
    pub fn response(&mut self) -> Response {
        let (mut response, framing) = self.read_head();
        response.body = match framing {
            Framing::Length(length) => self.body(length.try_into().expect("a length that memory has")),
            Framing::Chunks => self.chunks(),
            Framing::Nothing | Framing::UntilClose => Vec::new(),
        };
        response
    }

    #[track_caller]
    fn body(&mut self, length: usize) -> Vec<u8> {
        while self.unread.len() < length {
            assert!(self.more(), "closed inside a body: {}", self.unread.escape_ascii());
        }
        self.unread.drain(..length).collect()
    }

    /// Chunks without trailers (RFC 9112 section 7.1).
    #[track_caller]
    fn chunks(&mut self) -> Vec<u8> {
        let mut all = Vec::new();
        loop {
            let Some(end) = self.unread.windows(2).position(|two| two == b"\r\n") else {
                assert!(self.more(), "closed inside a chunk: {}", self.unread.escape_ascii());
                continue;
            };
            let line = String::from_utf8(self.body(end + 2)).expect("the size of a chunk");
            let size = line.split(';').next().unwrap_or_default().trim();
            let size = usize::from_str_radix(size, 16).expect("the size of a chunk");
            let chunk = self.body(size + 2);
            if size == 0 {
                return all;
            }
            all.extend_from_slice(&chunk[..size]);
        }
    }

    /// Reads one response that has no body, as after HEAD: the head alone.
    #[track_caller]
    pub fn head(&mut self) -> String {
        self.read_head().0.head
    }

    /// Reads the head of a response, and tells where its body ends.
    #[track_caller]
    fn read_head(&mut self) -> (Response, Framing) {
        loop {
            let mut room = room::<MAX_LINES>();
            let head = Head::parse(&self.unread, &mut room, Strictness::Lenient)
                .unwrap_or_else(|why| panic!("{why}: {}", self.unread.escape_ascii()));
            if let Some(head) = head {
                let read = response(&head, &self.unread);
                self.unread.drain(..head.length);
                return read;
            }
            assert!(self.more(), "closed inside a response head: {}", self.unread.escape_ascii());
        }
    }

    /// Reads until the other side closes, in whatever manner, and gives everything.
    #[track_caller]
    pub fn until_closed(&mut self) -> Vec<u8> {
        while self.more() {}
        std::mem::take(&mut self.unread)
    }

    /// Reads once; false when the other side has closed or reset the connection.
    #[track_caller]
    fn more(&mut self) -> bool {
        let mut piece = [0; 16 * 1024];
        match self.stream.read(&mut piece) {
            Ok(0) => false,
            Ok(length) => {
                self.unread.extend_from_slice(&piece[..length]);
                true
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                panic!("nothing came for {PATIENCE:?}; so far: {}", self.unread.escape_ascii())
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => true,
            Err(_) => false,
        }
    }
}

/// Sends `bytes` on a connection of their own and gives all that comes until the other side closes;
/// a request that should be answered once needs `Connection: close`.
#[track_caller]
pub fn exchange(address: SocketAddr, bytes: impl AsRef<[u8]>) -> String {
    let answer = Raw::connect(address).send(bytes).until_closed();
    String::from_utf8_lossy(&answer).into_owned()
}

/// A response whose head `bytes` begin with, without its body, and where that ends.
#[track_caller]
fn response(head: &Head, bytes: &[u8]) -> (Response, Framing) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("a head of text");
    let response = Response {
        status: head.status.as_u16(),
        head: text(bytes[..head.length].trim_ascii_end()),
        body: Vec::new(),
        fields: head.fields.iter().map(|field| (field.name.to_owned(), text(field.value))).collect(),
    };
    (response, head.framing(Asked::Other).expect("a length"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Hostile;

    #[test]
    fn two_responses_in_one_packet_are_told_apart() {
        let server = Hostile::start(|mut stream: &TcpStream, _| {
            stream
                .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhiHTTP/1.1 204 No Content\r\n\r\n")
                .unwrap();
        });
        let mut client = Raw::connect(server.address());
        let first = client.response();
        assert_eq!((first.status, first.text(), first.header("Content-Length")), (200, "hi", Some("2")));
        assert_eq!(client.response().status, 204);
        assert_eq!(client.until_closed(), b"");
    }
}
