//! [`Response`] and [`Request`]: where each ends over HTTP/1, by its framing (RFC 9112 section 6), from what passes of it.

/// As much of a header line is looked at.
const MAX_LINE: usize = 48;

/// A response on its way out. Fed with all that is written on a connection from its first byte on, in pieces of any size, it
/// knows in which of them the response ends.
#[derive(Debug, Clone, Copy)]
pub struct Response {
    state: State,
    /// Whether it is a request in truth.
    is_request: bool,
    /// Whether it is to a `HEAD` request, and has no body whatever its head says.
    is_of_head: bool,
    /// Whether it is a request that says something of all that comes later on its connection.
    binds: bool,
    /// What was written of the line at hand, but for what is too long.
    line: [u8; MAX_LINE],
    length: u8,
    status: u16,
    content_length: Option<u64>,
    is_chunked: bool,
    bytes: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    StatusLine,
    Header,
    /// So many bytes are left.
    Body(u64),
    ChunkSize,
    /// So many bytes are left of a chunk, with its line end.
    Chunk(u64),
    Trailer,
    /// The end of the connection is its end.
    UntilClose,
    Over,
}

impl Response {
    /// One of which nothing has been written; `is_of_head` that it is to a `HEAD` request.
    pub const fn new(is_of_head: bool) -> Self {
        Self {
            state: State::StatusLine,
            is_request: false,
            is_of_head,
            binds: false,
            line: [0; MAX_LINE],
            length: 0,
            status: 0,
            content_length: None,
            is_chunked: false,
            bytes: 0,
        }
    }

    /// Its status, once that has been written; 0 before.
    pub const fn status(&self) -> u16 {
        self.status
    }

    /// Bytes of it that have been written.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// It is to a `HEAD` request.
    pub fn set_of_head(&mut self) {
        self.is_of_head = true;
    }

    /// Whether nothing of it has been written behind its status line.
    pub const fn is_at_status_line(&self) -> bool {
        matches!(self.state, State::StatusLine)
    }

    /// Whether all of its head that has been written are whole lines.
    pub const fn is_at_line_start(&self) -> bool {
        self.length == 0
    }

    /// Whether its head, or the final one after interim responses, has not been written whole.
    pub const fn is_in_head(&self) -> bool {
        matches!(self.state, State::StatusLine | State::Header)
    }

    /// Whether it ends with its connection.
    pub const fn is_until_close(&self) -> bool {
        matches!(self.state, State::UntilClose)
    }

    /// These bytes were written next. Gives how many of them are of the response, if it ends with or before the last.
    pub fn wrote(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        while at < bytes.len() && self.state != State::Over {
            match self.state {
                State::Body(left) | State::Chunk(left) => {
                    let of_it = left.min((bytes.len() - at) as u64);
                    at += of_it as usize;
                    self.passed(left, of_it);
                }
                State::UntilClose => at = bytes.len(),
                _ => at += self.part_of_line(&bytes[at..]),
            }
        }
        self.bytes += at as u64;
        (self.state == State::Over).then_some(at)
    }

    /// So many bytes were written next that cannot be seen (sendfile(2)). Whether the response ends with or before the last.
    pub fn wrote_unseen(&mut self, bytes: u64) -> bool {
        let mut left = bytes;
        while left > 0 {
            match self.state {
                State::Body(of_body) | State::Chunk(of_body) => {
                    let of_it = of_body.min(left);
                    left -= of_it;
                    self.bytes += of_it;
                    self.passed(of_body, of_it);
                }
                State::Over => break,
                // A head, or the size of a chunk: where it ends is not known any more.
                _ => {
                    self.state = State::UntilClose;
                    self.bytes += left;
                    break;
                }
            }
        }
        self.state == State::Over
    }

    fn passed(&mut self, left: u64, of_it: u64) {
        let left = left - of_it;
        self.state = match self.state {
            State::Body(_) if left == 0 => State::Over,
            State::Body(_) => State::Body(left),
            _ if left == 0 => State::ChunkSize,
            _ => State::Chunk(left),
        };
    }

    /// The next bytes of a line, to its end if that is there; gives how many they are.
    fn part_of_line(&mut self, bytes: &[u8]) -> usize {
        let end = memchr::memchr(b'\n', bytes);
        let part = &bytes[..end.unwrap_or(bytes.len())];
        if self.length == 0 && end.is_some() {
            self.whole_line(&part[..part.len().min(MAX_LINE)]);
            return part.len() + 1;
        }
        let had = usize::from(self.length);
        let room = self.line[had..].iter_mut().zip(part);
        room.for_each(|(place, byte)| *place = *byte);
        self.length = (had + part.len()).min(MAX_LINE) as u8;
        if end.is_none() {
            return part.len();
        }
        let line = self.line;
        self.whole_line(&line[..usize::from(self.length)]);
        part.len() + 1
    }

    fn whole_line(&mut self, line: &[u8]) {
        self.length = 0;
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        self.state = match self.state {
            State::StatusLine => self.status_line(line),
            State::Header if line.is_empty() => self.head_over(),
            State::Header => {
                self.header(line);
                State::Header
            }
            State::ChunkSize => chunk(line),
            State::Trailer if line.is_empty() => State::Over,
            other => other,
        };
    }

    fn status_line(&mut self, line: &[u8]) -> State {
        // RFC 9112 section 2.2: an empty line before it says nothing.
        if line.is_empty() {
            return State::StatusLine;
        }
        if self.is_request {
            self.is_of_head = line.starts_with(b"HEAD ");
            // Whose the connection is, said once before its first request (the PROXY protocol, both versions), or what is not a request.
            self.binds |= line.starts_with(b"PROXY ") || !line[0].is_ascii_alphabetic();
            return State::Header;
        }
        let status = line.strip_prefix(b"HTTP/1.").and_then(|rest| rest.get(2..5));
        let status = status.and_then(number);
        match status.and_then(|status| u16::try_from(status).ok()) {
            Some(status) => {
                self.status = status;
                State::Header
            }
            // HTTP/0.9, or another protocol.
            None => State::UntilClose,
        }
    }

    fn header(&mut self, line: &[u8]) {
        if !matches!(line.first(), Some(b'a' | b'A' | b'c' | b'C' | b'p' | b'P' | b't' | b'T')) {
            return;
        }
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { return };
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        if name.eq_ignore_ascii_case(b"content-length") {
            self.content_length = number(value);
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            // The last coding is the outermost, and chunked is that of every response that has an end.
            let last = value.rsplit(|byte| *byte == b',').next().unwrap_or_default().trim_ascii();
            self.is_chunked = last.eq_ignore_ascii_case(b"chunked");
        } else if self.is_request
            && [&b"authorization"[..], b"proxy-authorization"]
                .iter()
                .any(|known| name.eq_ignore_ascii_case(known))
        {
            const SCHEMES: [&[u8]; 3] = [b"ntlm", b"negotiate", b"kerberos"];
            let scheme = value.split(|byte| *byte == b' ').next().unwrap_or_default();
            self.binds |= SCHEMES.iter().any(|named| scheme.eq_ignore_ascii_case(named));
        }
    }

    fn head_over(&mut self) -> State {
        let (status, is_chunked, length) = (self.status, self.is_chunked, self.content_length);
        (self.content_length, self.is_chunked) = (None, false);
        if self.is_request {
            // Without either it has no body (section 6.3).
            return match length.unwrap_or(0) {
                _ if is_chunked => State::ChunkSize,
                0 => State::Over,
                length => State::Body(length),
            };
        }
        match status {
            // Another protocol from here on (RFC 9110 section 15.2.2).
            101 => State::UntilClose,
            // The response is still to come.
            100..=199 => State::StatusLine,
            204 | 304 => State::Over,
            _ if self.is_of_head => State::Over,
            _ if is_chunked => State::ChunkSize,
            _ => match length {
                Some(0) => State::Over,
                Some(length) => State::Body(length),
                None => State::UntilClose,
            },
        }
    }
}

/// A request on its way in.
#[derive(Debug, Clone, Copy)]
pub struct Request(Response);

impl Request {
    /// One of which nothing has been read.
    pub const fn new() -> Self {
        Self(Response { is_request: true, ..Response::new(false) })
    }

    /// These bytes were read next. Gives how many of them are of the request, if it ends with or before the last.
    pub fn read(&mut self, bytes: &[u8]) -> Option<usize> {
        self.0.wrote(bytes)
    }

    /// Whether anything of it has been read, but for empty lines before it.
    pub const fn has_begun(&self) -> bool {
        !self.0.is_at_status_line() || self.0.length > 1
    }

    /// Whether all of it has been read.
    pub const fn is_over(&self) -> bool {
        matches!(self.0.state, State::Over)
    }

    /// Whether it says something that counts for all that comes later on its connection, as far as it has been read: it authenticates its client for
    /// that (RFC 4559 section 6), or says whose the connection is (the PROXY protocol), or is not a request.
    pub const fn binds_connection(&self) -> bool {
        self.0.binds
    }

    /// Whether the next request begins with what is read next: all of this one has been read, or nothing but the beginning of an empty line.
    pub const fn is_between(&self) -> bool {
        let is_untouched = self.0.is_at_status_line() && (self.0.length == 0 || self.0.line[0] == b'\r');
        self.is_over() || is_untouched
    }

    /// Whether its method is `HEAD`, as far as it has been read.
    pub const fn is_head(&self) -> bool {
        self.0.is_of_head
    }
}

impl Default for Request {
    fn default() -> Self {
        Self::new()
    }
}

fn chunk(line: &[u8]) -> State {
    let digits = line.iter().position(|byte| !byte.is_ascii_hexdigit()).unwrap_or(line.len());
    let text = core::str::from_utf8(&line[..digits]).unwrap_or_default();
    match u64::from_str_radix(text, 16) {
        Ok(0) => State::Trailer,
        Ok(size) => State::Chunk(size.saturating_add(2)),
        Err(_) => State::UntilClose,
    }
}

fn number(digits: &[u8]) -> Option<u64> {
    let text = core::str::from_utf8(digits).ok()?;
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    const PLAIN: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
    const CHUNKED: &[u8] =
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\n5;a=\"0\"\r\nhe\nlo\r\n1A\r\nabcdefghijklmnopqrstuvwxyz\r\n0\r\nX: y\r\n\r\n";
    const INFORMED: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\nX: y\r\n\r\n";

    /// Where it ends when it is written in pieces of these sizes, the rest at once.
    fn ends(response: &[u8], is_of_head: bool, sizes: &[usize]) -> Option<usize> {
        let (mut found, mut at) = (Response::new(is_of_head), 0_usize);
        for size in sizes.iter().copied().chain([usize::MAX]) {
            let to = at.saturating_add(size).min(response.len());
            if let Some(end) = found.wrote(&response[at..to]) {
                return Some(at + end);
            }
            at = to;
        }
        None
    }

    proptest! {
        #[test]
        fn it_ends_where_it_does_whatever_the_pieces(sizes in proptest::collection::vec(0..9usize, 0..60)) {
            for response in [PLAIN, CHUNKED, INFORMED] {
                let mut and_more: Vec<u8> = response.to_vec();
                and_more.extend_from_slice(PLAIN);
                prop_assert_eq!(ends(&and_more, false, &sizes), Some(response.len()));
            }
        }
    }

    #[test]
    fn requests_end_with_their_bodies() {
        let (head, posted) =
            (b"\r\nHEAD / HTTP/1.1\r\nHost: x\r\n\r\n", b"POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc");
        let mut request = Request::new();
        assert_eq!((request.read(b"\r\n"), request.has_begun()), (None, false));
        assert_eq!((request.read(b"HEA"), request.has_begun(), request.is_head()), (None, true, false));
        assert_eq!(
            (request.read(&head[5..]), request.is_head(), request.is_over()),
            (Some(head.len() - 5), true, true)
        );
        let mut request = Request::new();
        assert_eq!((request.read(&posted[..39]), request.is_over()), (None, false));
        assert_eq!(request.read(b"bcGET"), Some(2));
        for (scheme, binds) in
            [("nTLM TlR", true), ("Negotiate YII", true), ("Basic YTpi", false), ("Bearer ntlm", false)]
        {
            let mut request = Request::new();
            let head = std::format!("GET / HTTP/1.1\r\nauthorization:  {scheme}\r\n\r\n");
            assert_eq!(request.read(head.as_bytes()), Some(head.len()));
            assert_eq!(request.binds_connection(), binds, "{scheme}");
        }
        for (preface, binds) in [
            (&b"PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\nGET / HTTP/1.1\r\n\r\n"[..], true),
            (b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c", true),
            (b"\r\nPROPFIND / HTTP/1.1\r\nProxy-Authorization: Negotiate x\r\n\r\n", true),
            (b"\r\nGET / HTTP/1.1\r\nProxy-Authorization: Basic x\r\n\r\n", false),
        ] {
            let mut request = Request::new();
            let _ = request.read(preface);
            assert_eq!(request.binds_connection(), binds, "{preface:?}");
        }
        let mut pieces = Request::new();
        assert!(pieces.is_between());
        let _ = pieces.read(b"\r");
        assert!(pieces.is_between());
        let _ = pieces.read(b"\nG");
        assert!(!pieces.is_between());
        let _ = pieces.read(b"ET / HTTP/1.1\r\n\r\n");
        assert!(pieces.is_between());
        let mut chunked = Request::new();
        assert_eq!(
            chunked.read(b"PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n"),
            Some(57)
        );
    }

    #[test]
    fn what_has_no_end_of_its_own_ends_with_the_connection() {
        for response in [
            &b"HTTP/1.0 200 OK\r\n\r\nhello"[..],
            b"<html>0.9</html>\n",
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n\x81\x05hello",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nx",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nnone\r\n",
        ] {
            assert_eq!(ends(response, false, &[]), None);
        }
        assert_eq!(ends(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", true, &[]), Some(38));
    }

    #[test]
    fn what_is_not_seen_counts_as_well() {
        let mut of_file = Response::new(false);
        assert_eq!(of_file.wrote(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"), None);
        assert!(!of_file.wrote_unseen(999));
        assert!(of_file.wrote_unseen(1));
        assert_eq!((of_file.status(), of_file.bytes()), (200, 1041));
        let mut of_chunk = Response::new(false);
        assert_eq!(of_chunk.wrote(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10\r\n"), None);
        assert!(!of_chunk.wrote_unseen(16));
        assert_eq!(of_chunk.wrote(b"\r\n0\r\n\r\n"), Some(7));
        let mut of_head = Response::new(false);
        assert!(!of_head.wrote_unseen(5) && of_head.is_until_close());
    }
}
