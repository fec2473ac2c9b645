//! [`Head`]: what the generator must know of a response's head, and [`Heads`], which reads them.

use std::cell::RefCell;
use std::mem::MaybeUninit;
use std::ops::Range;

use httparse::ParserConfig;

use crate::client::exchange::Fault;
use crate::client::facts::Facts;

/// Header fields of a response; no server sends more.
const MAX_FIELDS: usize = 128;

/// The head of a response, final or interim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Head {
    /// Bytes that it takes.
    pub(crate) bytes: usize,
    pub(crate) facts: Facts,
    pub(crate) keep_alive: bool,
    pub(crate) framing: Framing,
    /// Where the value of `Date` is.
    date: Option<Range<usize>>,
}

/// How the body is delimited (RFC 9112, section 6.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    Length(u64),
    Chunked,
    UntilClose,
}

impl Head {
    /// Whether another response follows (RFC 9110, section 15.2).
    pub(crate) fn is_interim(&self) -> bool {
        matches!(self.facts.status, 100..=199)
    }

    /// The head that `bytes` begin with, if all of it is there.
    fn parse(bytes: &[u8]) -> Result<Option<Self>, Fault> {
        let mut headers = [const { MaybeUninit::uninit() }; MAX_FIELDS];
        let mut head = httparse::Response::new(&mut []);
        let parser = ParserConfig::default();
        let length = match parser.parse_response_with_uninit_headers(&mut head, bytes, &mut headers) {
            Ok(httparse::Status::Complete(length)) => length,
            Ok(httparse::Status::Partial) => return Ok(None),
            Err(_) => return Err(Fault::Malformed),
        };
        let mut fields = Fields { keep_alive: head.version == Some(1), ..Fields::default() };
        for header in head.headers.iter() {
            fields.take(header.name, header.value.trim_ascii())?;
            if header.name.eq_ignore_ascii_case("date") {
                let start = header.value.as_ptr().addr() - bytes.as_ptr().addr();
                fields.date = Some(start..start + header.value.len());
            }
        }
        let framing = match (fields.chunked, fields.length) {
            (true, _) => Framing::Chunked,
            (false, Some(length)) => Framing::Length(length),
            (false, None) => Framing::UntilClose,
        };
        Ok(Some(Self {
            bytes: length,
            facts: Facts { status: head.code.ok_or(Fault::Malformed)?, ..fields.facts },
            keep_alive: fields.keep_alive,
            framing,
            date: fields.date,
        }))
    }
}

#[derive(Default)]
struct Fields {
    keep_alive: bool,
    length: Option<u64>,
    chunked: bool,
    facts: Facts,
    date: Option<Range<usize>>,
}

impl Fields {
    fn take(&mut self, name: &str, value: &[u8]) -> Result<(), Fault> {
        // Most fields are of no interest, and their length says so.
        match name.len() {
            14 if name.eq_ignore_ascii_case("content-length") => {
                let announced = parse_length(value).ok_or(Fault::Malformed)?;
                if self.length.is_some_and(|length| length != announced) {
                    return Err(Fault::Malformed);
                }
                self.length = Some(announced);
            }
            17 if name.eq_ignore_ascii_case("transfer-encoding") => {
                if !value.eq_ignore_ascii_case(b"chunked") {
                    return Err(Fault::Malformed);
                }
                self.chunked = true;
            }
            10 if name.eq_ignore_ascii_case("connection") => {
                let mut options = value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
                if options.clone().any(|option| option.eq_ignore_ascii_case(b"close")) {
                    self.keep_alive = false;
                } else if options.any(|option| option.eq_ignore_ascii_case(b"keep-alive")) {
                    self.keep_alive = true;
                }
            }
            _ => self.facts.take(name, value),
        }
        Ok(())
    }
}

/// Digits only: `+5` is a number to Rust and an attack to HTTP.
fn parse_length(value: &[u8]) -> Option<u64> {
    if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(value).ok()?.parse().ok()
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
        let head = Head::parse(bytes)?;
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
        assert_eq!(heads.read(second), Head::parse(second));
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
        assert_eq!(Head::parse(&hidden).unwrap().unwrap().framing, Framing::Chunked);
    }

    #[test]
    fn heads_with_cookies_are_always_read() {
        let text = b"HTTP/1.1 200 OK\r\nDate: x\r\nSet-Cookie: a=1\r\n\r\n";
        let heads = Heads::default();
        assert_eq!(heads.read(text).unwrap().unwrap().facts.cookies, ["a=1"]);
        assert!(heads.0.borrow().is_none());
    }
}
