//! [`Head`]: what the generator wants of a response's head, and [`Heads`], which reads them.

use std::cell::RefCell;
use std::ops::Range;

use http1::fields::room;
use http1::response::{Asked, Framing, Strictness};

use crate::client::exchange::Fault;
use crate::client::facts::Facts;

/// Header fields of a response; no server sends more.
const MAX_FIELDS: usize = 128;

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
fn read(bytes: &[u8]) -> Result<Option<Head>, Fault> {
    let mut room = room::<MAX_FIELDS>();
    let Some(head) = http1::response::Head::parse(bytes, &mut room, Strictness::Lenient)? else {
        return Ok(None);
    };
    let mut facts = Facts { status: head.status.as_u16(), ..Facts::default() };
    head.fields.iter().for_each(|field| facts.take(field.name, field.value));
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
pub(crate) struct Heads(RefCell<Option<Known>>);

#[derive(Debug)]
struct Known {
    text: Vec<u8>,
    date: Range<usize>,
    head: Head,
}

impl Heads {
    /// The head that `bytes` begin with, if all of it is there.
    ///
    /// # Errors
    /// When it is not the head of a response.
    pub(crate) fn read(&self, bytes: &[u8]) -> Result<Option<Head>, Fault> {
        if let Some(known) = &*self.0.borrow()
            && known.is_again(bytes)
        {
            return Ok(Some(known.head.clone()));
        }
        let head = read(bytes)?;
        if let Some(head) = &head
            && head.facts.cookies.is_empty()
            && let (Some(date), Some(text)) = (&head.date, bytes.get(..head.bytes))
        {
            let known = Known { text: text.to_vec(), date: date.clone(), head: head.clone() };
            *self.0.borrow_mut() = Some(known);
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
        assert_eq!(heads.0.borrow().as_ref().unwrap().is_again(second), again);
        assert_eq!(heads.read(second), read(second));
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
        assert_eq!(read(&hidden).unwrap().unwrap().framing, Framing::Chunks);
    }

    #[test]
    fn heads_with_cookies_are_always_read() {
        let text = b"HTTP/1.1 200 OK\r\nDate: x\r\nSet-Cookie: a=1\r\n\r\n";
        let heads = Heads::default();
        assert_eq!(heads.read(text).unwrap().unwrap().facts.cookies, ["a=1"]);
        assert!(heads.0.borrow().is_none());
    }
}
