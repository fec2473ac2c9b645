//! [`Head`]: what the generator wants of a response's head, and [`Heads`], which reads them.

use std::cell::RefCell;
use std::mem::MaybeUninit;
use std::ops::Range;

use http1::fields::{Field, room};
use http1::response::{Asked, Framing, Malformed, Strictness};

use crate::client::facts::Facts;
use crate::client::fault::Fault;

/// Header fields of a response for which there is room at hand; for more, room is made.
const USUAL_FIELDS: usize = 128;
const MAX_FIELDS: usize = 4096;

/// The head of a response, final or interim, to a request that is not a HEAD.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Head {
    /// Bytes that it takes.
    pub(crate) bytes: usize,
    pub(crate) facts: Facts,
    /// Whether another response follows (RFC 9110, section 15.2).
    pub(crate) is_interim: bool,
    pub(crate) keep_alive: bool,
    pub(crate) framing: Framing,
    /// Where the value of `Date` is.
    date: Option<Range<usize>>,
}

/// The head that `bytes` begin with, if all of it is there.
fn read(bytes: &[u8], taken: &[String]) -> Result<Option<Head>, Fault> {
    match read_with(bytes, &mut room::<USUAL_FIELDS>(), taken) {
        Err(Malformed::Fields) => {
            let mut room: Vec<_> = std::iter::repeat_with(MaybeUninit::uninit).take(MAX_FIELDS).collect();
            Ok(read_with(bytes, &mut room, taken)?)
        }
        Err(Malformed::Syntax(_)) if is_later(bytes) => {
            // Read as the latest that there is (RFC 9110, section 2.5).
            let mut bytes = bytes.to_vec();
            bytes[MINOR] = b'1';
            read(&bytes, taken)
        }
        result => Ok(result?),
    }
}

/// Where the digit behind the dot of `HTTP/1.1` is.
const MINOR: usize = "HTTP/1.".len();

/// Whether it is of a version of HTTP/1 that is not known yet.
fn is_later(bytes: &[u8]) -> bool {
    bytes.starts_with(b"HTTP/1.") && bytes.get(MINOR).is_some_and(|minor| (b'2'..=b'9').contains(minor))
}

fn read_with<'b>(
    bytes: &'b [u8],
    room: &mut [MaybeUninit<Field<'b>>],
    taken: &[String],
) -> Result<Option<Head>, Malformed> {
    let Some(head) = http1::response::Head::parse(bytes, room, Strictness::Lenient)? else {
        return Ok(None);
    };
    let mut facts = Facts { status: head.status.as_u16(), ..Facts::default() };
    head.fields.iter().for_each(|field| facts.take(field.name, field.value, taken));
    let closes = head.connection_has("close");
    let date = head.values("date").next().map(|value| {
        let start = value.as_ptr().addr() - bytes.as_ptr().addr();
        start..start + value.len()
    });
    Ok(Some(Head {
        bytes: head.length,
        facts,
        is_interim: head.is_interim(),
        keep_alive: !closes && (head.is_modern || head.connection_has("keep-alive")),
        framing: head.framing(Asked::Other)?,
        date,
    }))
}

/// Reads heads. Servers repeat themselves: a head that is the one before but for its date is not
/// parsed again.
#[derive(Debug, Default)]
pub(crate) struct Heads {
    known: RefCell<Option<Known>>,
    /// Names of fields that sessions take something from, in lower case.
    pub(crate) taken: Vec<String>,
}

#[derive(Debug)]
struct Known {
    text: Vec<u8>,
    date: Range<usize>,
    head: Head,
}

impl Heads {
    /// Heads of which sessions take the fields called so, in lower case.
    pub(crate) fn taking(taken: Vec<String>) -> Self {
        Self { taken, ..Self::default() }
    }

    /// The head that `bytes` begin with, if all of it is there.
    ///
    /// # Errors
    /// When it is not the head of a response.
    pub(crate) fn read(&self, bytes: &[u8]) -> Result<Option<Head>, Fault> {
        if let Some(known) = &*self.known.borrow()
            && known.is_again(bytes)
        {
            return Ok(Some(known.head.clone()));
        }
        let head = read(bytes, &self.taken)?;
        if let Some(head) = &head
            && head.facts.cookies.is_empty()
            && let (Some(date), Some(text)) = (&head.date, bytes.get(..head.bytes))
        {
            let known = Known { text: text.to_vec(), date: date.clone(), head: head.clone() };
            *self.known.borrow_mut() = Some(known);
        }
        Ok(head)
    }
}

impl Known {
    fn is_again(&self, bytes: &[u8]) -> bool {
        let Range { start, end } = self.date;
        let same = |part: Range<usize>| bytes.get(part.clone()) == self.text.get(part);
        bytes.len() >= self.text.len()
            && same(0..start)
            && same(end..self.text.len())
            && bytes.get(start..end).is_some_and(|date| date.iter().all(|byte| matches!(byte, b' '..=b'~')))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(date: &str, length: u64) -> Vec<u8> {
        format!("HTTP/1.1 200 OK\r\nServer: x\r\nDate: {date}\r\nContent-Length: {length}\r\n\r\n")
            .into_bytes()
    }

    /// What is known must not change what is read.
    #[track_caller]
    fn check(first: &[u8], second: &[u8], again: bool) {
        let heads = Heads::default();
        heads.read(first).unwrap();
        assert_eq!(heads.known.borrow().as_ref().unwrap().is_again(second), again);
        assert_eq!(heads.read(second), read(second, &[]));
    }

    #[test]
    fn a_head_that_differs_by_its_date_is_known() {
        let first = head("Sun, 06 Nov 1994 08:49:37 GMT", 5);
        check(&first, &first, true);
        check(&first, &head("Mon, 07 Nov 1994 08:49:38 GMT", 5), true);
        check(&first, &[&first, &b"hello"[..]].concat(), true);
        check(&first, &head("Sun, 06 Nov 1994 08:49:37 GMT", 6), false);
        check(&first, &head("Sun, 06 Nov 1994 08:49:37", 50_000), false);
        check(&first, &first[..first.len() - 1], false);
    }

    #[test]
    fn fields_in_the_place_of_a_date_are_seen() {
        let first = head("Sun, 06 Nov 1994 08:49:37 GMT", 5);
        let hidden = head("x\r\nTransfer-Encoding: chunked", 5);
        assert_eq!(first.len(), hidden.len());
        check(&first, &hidden, false);
        assert_eq!(read(&hidden, &[]).unwrap().unwrap().framing, Framing::Chunks);
    }

    #[test]
    fn heads_with_cookies_are_always_read() {
        let text = b"HTTP/1.1 200 OK\r\nDate: x\r\nSet-Cookie: a=1\r\n\r\n";
        let heads = Heads::default();
        assert_eq!(heads.read(text).unwrap().unwrap().facts.cookies, ["a=1"]);
        assert!(heads.known.borrow().is_none());
    }

    #[test]
    fn heads_of_every_kind_that_a_client_may_read_are_read() {
        let read = |text: &str| read(text.as_bytes(), &[]).map(|head| head.map(|head| head.facts.status));
        let many = |count: usize| {
            let fields: String = (0..count).map(|number| format!("X-{number}: v\r\n")).collect();
            format!("HTTP/1.1 200 OK\r\n{fields}\r\n")
        };
        assert_eq!(read("HTTP/1.1 200 OK\r\nX-Long: a\r\n  b\r\nContent-Length: 5\r\n\r\n"), Ok(Some(200)));
        assert_eq!(read("HTTP/1.2 201 Created\r\nDate: x\r\n\r\n"), Ok(Some(201)));
        assert_eq!(read("HTTP/1.9 200 OK\r\nDate: "), Ok(None));
        for count in [128, 129, 256, 1000, MAX_FIELDS] {
            assert_eq!(read(&many(count)), Ok(Some(200)), "{count}");
        }
        for wrong in ["HTTP/2.0 200 OK\r\n\r\n", "HTTP/1.x 200 OK\r\n\r\n", "HTTP/1.10 200 OK\r\n\r\n"] {
            assert!(matches!(read(wrong), Err(Fault::Malformed(_))), "{wrong}");
        }
        assert!(matches!(read(&many(MAX_FIELDS + 1)), Err(Fault::Malformed(_))));
    }

    #[test]
    fn what_comes_last_among_codings_says_where_a_body_ends() {
        let framing = |coding: &str| {
            let text = format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: {coding}\r\n\r\n");
            read(text.as_bytes(), &[]).unwrap().unwrap().framing
        };
        assert_eq!(framing("gzip, Chunked"), Framing::Chunks);
        assert_eq!(framing("gzip\r\nTransfer-Encoding: chunked"), Framing::Chunks);
        assert_eq!(framing("gzip"), Framing::UntilClose);
    }
}
