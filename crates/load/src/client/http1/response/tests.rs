//! Responses, whole and in pieces.

use record::RequestError;

use super::*;
use crate::client::exchange::Expected;
use crate::settings::checks::Checks;

/// Nothing is known of a response but its length.
fn expected(checks: &Checks, length: Option<u64>) -> Expected<'_> {
    Expected {
        length,
        is_head: false,
        has_body: false,
        keeps_body: false,
        is_idempotent: true,
        follows: false,
        content: None,
        checks,
    }
}

/// A response and its exchange, whatever the time.
struct Reader<'a> {
    heads: Heads,
    response: Response,
    exchange: Exchange<'a>,
}

impl<'a> Reader<'a> {
    fn new(expected: Expected<'a>) -> Self {
        let exchange = Exchange::new(expected, Time::ZERO);
        Self { heads: Heads::default(), response: Response::default(), exchange }
    }

    fn feed(&mut self, input: &[u8]) -> Result<usize, RequestError> {
        let event = if input.is_empty() { Event::Closed } else { Event::Bytes(input) };
        let fed = self.response.take(event, Time::ZERO, &self.heads, &mut self.exchange);
        fed.map_err(|fault| self.exchange.error_of(fault).0)
    }

    fn end(&mut self) -> Result<(), RequestError> {
        self.feed(&[]).map(drop)
    }
}

#[derive(Debug, PartialEq)]
struct ReadResponse {
    status: u16,
    body: u64,
    keep_alive: bool,
}

fn read(pieces: &[&[u8]], closes: bool, expected_length: Option<u64>) -> Result<ReadResponse, RequestError> {
    let checks = Checks::default();
    let mut response = Reader::new(expected(&checks, expected_length));
    for piece in pieces {
        if response.feed(piece)? < piece.len() {
            // What follows is not part of it.
            return Err(RequestError::Body);
        }
    }
    if closes {
        response.end()?;
    }
    assert!(response.response.is_complete(), "{:?}", response.response);
    Ok(ReadResponse {
        status: response.exchange.status().unwrap(),
        body: response.exchange.body_bytes(),
        keep_alive: response.response.keeps_alive(),
    })
}

/// The response must not differ however it is cut into pieces.
#[track_caller]
fn check(text: &str, closes: bool, expected: Result<(u16, u64, bool), RequestError>) {
    let expected = expected.map(|(status, body, keep_alive)| ReadResponse { status, body, keep_alive });
    let bytes = text.as_bytes();
    assert_eq!(read(&[bytes], closes, None), expected, "at once");
    let single: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(read(&single, closes, None), expected, "byte by byte");
    for cut in 1..bytes.len() {
        let (a, b) = bytes.split_at(cut);
        assert_eq!(read(&[a, b], closes, None), expected, "cut at {cut}");
    }
}

#[test]
fn the_end_is_found_however_it_is_marked() {
    check("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", false, Ok((200, 5, true)));
    check("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", false, Ok((200, 0, true)));
    check(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        false,
        Ok((200, 5, true)),
    );
    check("HTTP/1.1 200 OK\r\n\r\nhello", true, Ok((200, 5, false)));
    check("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nhello", true, Ok((200, 5, false)));
    check(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        false,
        Ok((200, 5, true)),
    );
    check("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", false, Ok((304, 0, true)));
    check("HTTP/1.1 200 OK\nContent-Length: 2\n\nok", false, Ok((200, 2, true)));
}

#[test]
fn interim_responses_are_passed_over() {
    check(
        "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        false,
        Ok((200, 2, true)),
    );
}

#[test]
fn connections_are_kept_as_the_server_says() {
    check("HTTP/1.1 503 Busy\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", false, Ok((503, 0, false)));
    check("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", false, Ok((200, 0, false)));
    check(
        "HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 0\r\n\r\n",
        false,
        Ok((200, 0, true)),
    );
}

#[test]
fn what_ends_early_is_an_error() {
    check("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", true, Err(RequestError::Body));
    check("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel", true, Err(RequestError::Body));
    check("HTTP/1.1 200 OK\r\nContent-Le", true, Err(RequestError::Reset));
    assert_eq!(read(&[], true, None), Err(RequestError::Reset));
}

#[test]
fn what_is_not_http_is_refused() {
    check("SSH-2.0-OpenSSH_9.6\r\n", false, Err(RequestError::Protocol));
    check("HTTP/1.1 abc\r\n\r\n", false, Err(RequestError::Protocol));
    check("HTTP/1.1 200 OK\r\nContent-Length: five\r\n\r\n", false, Err(RequestError::Protocol));
    check("HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\nhello", false, Err(RequestError::Protocol));
    check(
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        false,
        Err(RequestError::Protocol),
    );
}

#[test]
fn a_head_without_end_is_not_waited_for() {
    let checks = Checks::default();
    let mut response = Reader::new(expected(&checks, None));
    response.feed(b"HTTP/1.1 200 OK\r\n").unwrap();
    let line = [b'x'; 1024];
    let refused = (0..300).find_map(|_| response.feed(&line).err());
    assert_eq!(refused, Some(RequestError::Protocol));
}

#[test]
fn another_length_than_expected_is_an_error() {
    let five = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
    assert_eq!(read(&[five], false, Some(6)), Err(RequestError::Body));
    assert!(read(&[five], false, Some(5)).is_ok());
    let refusal = b"HTTP/1.1 503 Busy\r\nContent-Length: 5\r\n\r\nsorry";
    assert!(read(&[refusal], false, Some(6)).is_ok(), "a refusal has a body of its own");
    let more = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello, world";
    assert_eq!(read(&[more], false, None), Err(RequestError::Body));
}

#[test]
fn a_response_to_head_has_no_body() {
    let checks = Checks::default();
    let mut response = Reader::new(Expected { is_head: true, ..expected(&checks, Some(5)) });
    response.feed(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n").unwrap();
    assert!(response.response.is_complete() && response.response.keeps_alive());
}

#[test]
fn the_next_response_is_left_alone() {
    let checks = Checks::default();
    let mut response = Reader::new(expected(&checks, None));
    let first = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    let used = response.feed(&[first, &b"HTTP/1.1 200"[..]].concat()).unwrap();
    assert!(response.response.is_complete());
    assert_eq!(used, first.len());
}

#[test]
fn the_server_may_say_how_long_it_took() {
    let time = |field: &str| {
        let checks = Checks::default();
        let mut response = Reader::new(expected(&checks, None));
        let head = format!("HTTP/1.1 200 OK\r\nServer-Timing: {field}\r\nContent-Length: 0\r\n\r\n");
        response.feed(head.as_bytes()).unwrap();
        response.exchange.server_time().map(units::Span::as_nanos)
    };
    assert_eq!(time("before;dur=50.004"), Some(50_004_000));
    assert_eq!(time("cache;desc=hit, app;dur=2"), Some(2_000_000));
    for wrong in ["miss", "app;dur=", "app;dur=-1", "app;dur=inf"] {
        assert_eq!(time(wrong), None, "{wrong}");
    }
}

#[test]
fn cookies_are_handed_on() {
    let checks = Checks::default();
    let mut response = Reader::new(expected(&checks, None));
    response
        .feed(b"HTTP/1.1 200 OK\r\nSet-Cookie: a=1; Path=/\r\nset-cookie: b=2\r\nContent-Length: 0\r\n\r\n")
        .unwrap();
    assert_eq!(response.exchange.cookies(), ["a=1; Path=/", "b=2"]);
}

/// What of a body of chunks is read, and whether it has ended, however it is cut.
#[track_caller]
fn check_chunks(text: &str, expected: Result<(u64, bool), RequestError>) {
    let read = |pieces: &[&[u8]]| {
        let checks = Checks::default();
        let mut reader = Reader::new(self::expected(&checks, None));
        reader.feed(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").unwrap();
        pieces.iter().try_for_each(|piece| reader.feed(piece).map(drop))?;
        Ok((reader.exchange.body_bytes(), reader.response.is_complete()))
    };
    assert_eq!(read(&[text.as_bytes()]), expected, "{text:?} at once");
    let single: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
    assert_eq!(read(&single), expected, "{text:?} byte by byte");
}

#[test]
fn chunks_are_counted() {
    check_chunks("5\r\nhello\r\n0\r\n\r\n", Ok((5, true)));
    check_chunks("A;name=value\r\n0123456789\r\n1\r\nx\r\n0\r\nExpires: never\r\n\r\n", Ok((11, true)));
    check_chunks("5\r\nhel", Ok((3, false)));
    check_chunks("0\r\n", Ok((0, false)));
}

#[test]
fn what_is_not_chunked_is_refused() {
    for text in ["\r\n", "g\r\n", "5\nhello", "5\r\nhello!", "5\r\nhello\r\n\r\n", "11112222333344445\r\n"] {
        check_chunks(text, Err(RequestError::Protocol));
    }
    check_chunks(&format!("1;{}", "x".repeat(2000)), Err(RequestError::Protocol));
    check_chunks(&format!("0\r\n{}", "x: y\r\n".repeat(10_000)), Err(RequestError::Protocol));
}

#[test]
fn what_follows_the_last_chunk_is_left() {
    let checks = Checks::default();
    let mut reader = Reader::new(expected(&checks, None));
    let head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
    assert_eq!(reader.feed(&[&head[..], b"HTTP/1.1"].concat()), Ok(head.len()));
    assert!(reader.response.is_complete());
}

proptest::proptest! {
    #[test]
    fn no_bytes_in_no_pieces_upset_it(
        known in proptest::sample::select(vec![
            "",
            "HTTP/1.1 200 OK\r\n",
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 300\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
        ]),
        unknown in proptest::collection::vec(proptest::num::u8::ANY, 0..400),
        piece in 1_usize..40,
    ) {
        let bytes = [known.as_bytes(), &unknown].concat();
        let checks = Checks::default();
        let mut response = Reader::new(expected(&checks, None));
        let outcome = bytes.chunks(piece).try_for_each(|piece| response.feed(piece).map(drop));
        assert!(response.exchange.body_bytes() <= bytes.len() as u64);
        if outcome.is_ok() {
            assert_eq!(response.end().is_ok(), response.response.is_complete());
        }
    }
}
