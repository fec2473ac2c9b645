//! [`StrictHead`]: the head of a request, read line by line for what it means, and refused where that
//! is not one thing.

use std::ops::Range;

use super::breach::Breach;
use super::framing::Framing;
use super::limits::Limits;
use super::target::{self, Kind, is_host};
use crate::characters::{self, TOKEN, UNDERSCORE};
use crate::headers::names;

/// A head that is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Whole {
    /// Its bytes.
    pub(super) length: usize,
    pub(super) framing: Framing,
    /// Whether the client asks to speak another protocol: what it sends next may not be HTTP.
    pub(super) upgrade: bool,
}

/// How far a head was read, and what has been found. Places count from the head's first byte.
#[derive(Debug, Default)]
pub(super) struct StrictHead {
    /// Where the next line begins.
    at: usize,
    /// An empty line came first.
    blank: bool,
    line: Option<Line>,
    fields: usize,
    host: Option<Range<usize>>,
    length: Option<u64>,
    chunked: bool,
    upgrade: bool,
}

/// The request line.
#[derive(Debug)]
struct Line {
    old: bool,
    kind: Kind,
    target: Range<usize>,
}

/// What a line turned out to be.
enum Step {
    /// Not all of it has come.
    Unfinished,
    Read,
    /// The empty line after the head.
    End,
}

/// More than the longest registered method.
pub(super) const MAX_METHOD: usize = 32;
/// Lengths of more digits would not fit anywhere.
const MAX_LENGTH_DIGITS: usize = 18;

impl StrictHead {
    /// Whether of `came` bytes none belongs to a request, but perhaps to an empty line before it.
    pub(super) fn is_untouched(&self, came: usize) -> bool {
        self.line.is_none() && came == self.at
    }

    /// Reads on. `bytes` are all that has come of the head, and what follows it; those before
    /// `fresh` were there the last time.
    pub(super) fn read(
        &mut self,
        bytes: &[u8],
        fresh: usize,
        limits: &Limits,
    ) -> Result<Option<Whole>, Breach> {
        // Without the end of a line there is nothing to do; a client that sends byte by byte does
        // not make a line read again for each.
        if fresh > 0 && !bytes[fresh..].contains(&b'\n') {
            return self.unfinished(bytes, limits);
        }
        loop {
            let step = match self.line {
                None => self.first_line(&bytes[self.at..], limits)?,
                Some(_) => self.field(&bytes[self.at..], limits)?,
            };
            match step {
                Step::Unfinished => return self.unfinished(bytes, limits),
                Step::Read if self.at > limits.head => return Err(Breach::HeadSize),
                Step::Read => {}
                Step::End => {
                    let framing = self.meaning(bytes)?;
                    return Ok(Some(Whole { length: self.at, framing, upgrade: self.upgrade }));
                }
            }
        }
    }

    /// A line that is too long already needs no end.
    fn unfinished(&self, bytes: &[u8], limits: &Limits) -> Result<Option<Whole>, Breach> {
        let line = bytes.len() - self.at;
        match self.line {
            None if line > limits.target + MAX_METHOD => Err(Breach::TargetSize),
            Some(_) if line > limits.field => Err(Breach::FieldSize),
            _ if bytes.len() > limits.head => Err(Breach::HeadSize),
            _ => Ok(None),
        }
    }

    fn first_line(&mut self, rest: &[u8], limits: &Limits) -> Result<Step, Breach> {
        // RFC 9112 section 2.2: clients of long ago sent an empty line after a body.
        match rest {
            [] | [b'\r'] if !self.blank => return Ok(Step::Unfinished),
            [b'\r', b'\n', ..] if !self.blank => {
                self.blank = true;
                self.at += 2;
                return Ok(Step::Read);
            }
            _ => {}
        }
        let Some(method) = rest.iter().position(|byte| characters::class(*byte) & TOKEN == 0) else {
            let endless = rest.len() > MAX_METHOD;
            return if endless { Err(Breach::Method) } else { Ok(Step::Unfinished) };
        };
        if method == 0 || rest[method] != b' ' {
            return Err(if rest[method] == b'\n' { Breach::LineEnd } else { Breach::RequestLine });
        }
        if method > MAX_METHOD {
            return Err(Breach::Method);
        }
        let after = &rest[method + 1..];
        let Some(target) = after.iter().position(|byte| !byte.is_ascii_graphic()) else {
            return Ok(Step::Unfinished);
        };
        if target > limits.target {
            return Err(Breach::TargetSize);
        }
        if target == 0 || matches!(after[target], b'\r' | b'\n') {
            return Err(Breach::RequestLine);
        }
        if after[target] != b' ' {
            return Err(Breach::Target);
        }
        let version = &after[target + 1..];
        let Some(version) = version.first_chunk::<10>() else {
            let ended = version.contains(&b'\n');
            return if ended { Err(no_version(version)) } else { Ok(Step::Unfinished) };
        };
        let old = old_version(*version)?;
        let kind = match &rest[..method] {
            b"CONNECT" => Kind::Connect,
            b"OPTIONS" => Kind::Options,
            _ => Kind::Other,
        };
        let start = self.at + method + 1;
        self.line = Some(Line { old, kind, target: start..start + target });
        self.at = start + target + 1 + version.len();
        Ok(Step::Read)
    }

    fn field(&mut self, rest: &[u8], limits: &Limits) -> Result<Step, Breach> {
        let mut seen = 0;
        let is_end = |byte: &u8| {
            seen |= characters::class(*byte);
            characters::class(*byte) & TOKEN == 0
        };
        let Some(name) = rest.iter().position(is_end) else { return Ok(Step::Unfinished) };
        if name == 0 {
            return match rest {
                [b'\r', b'\n', ..] => {
                    self.at += 2;
                    Ok(Step::End)
                }
                [b'\r'] => Ok(Step::Unfinished),
                [b'\r' | b'\n', ..] => Err(Breach::LineEnd),
                _ => Err(Breach::Field),
            };
        }
        if rest[name] != b':' {
            return Err(if rest[name] == b'\n' { Breach::LineEnd } else { Breach::Field });
        }
        let value = &rest[name + 1..];
        let end = characters::text(value);
        match &value[end..] {
            [] | [b'\r'] => return Ok(Step::Unfinished),
            [b'\r', b'\n', ..] => {}
            [b'\r' | b'\n', ..] => return Err(Breach::LineEnd),
            _ => return Err(Breach::Field),
        }
        if name + 1 + end > limits.field {
            return Err(Breach::FieldSize);
        }
        if self.fields == limits.fields {
            return Err(Breach::Fields);
        }
        self.fields += 1;
        let (name, value_at) = (&rest[..name], self.at + name + 1);
        if seen & UNDERSCORE != 0 && names::is_alias(name) {
            return Err(Breach::Alias);
        }
        self.note(name, &value[..end], value_at)?;
        self.at = value_at + end + 2;
        Ok(Step::Read)
    }

    /// Keeps what decides about the message; `at` is where `value` begins.
    fn note(&mut self, name: &[u8], value: &[u8], at: usize) -> Result<(), Breach> {
        let is = |known: &[u8]| name.eq_ignore_ascii_case(known);
        // Most names have another length than all of these.
        match name.len() {
            4 if is(b"host") => {
                let start = at + value.len() - value.trim_ascii_start().len();
                let host = start..start + value.trim_ascii().len();
                if self.host.replace(host).is_some() {
                    return Err(Breach::Host);
                }
            }
            6 if is(b"expect") && !value.trim_ascii().eq_ignore_ascii_case(b"100-continue") => {
                return Err(Breach::Expectation);
            }
            7 if is(b"upgrade") => self.upgrade = true,
            10 if is(b"connection") => connection(value)?,
            14 if is(b"content-length") => {
                let before = self.length.replace(length(value.trim_ascii())?);
                if before.is_some() {
                    return Err(Breach::Length);
                }
            }
            17 if is(b"transfer-encoding") => {
                if std::mem::replace(&mut self.chunked, true) {
                    return Err(Breach::Coding);
                }
                coding(value.trim_ascii())?;
            }
            _ => {}
        }
        Ok(())
    }

    /// What the lines mean together.
    fn meaning(&self, bytes: &[u8]) -> Result<Framing, Breach> {
        let Some(line) = &self.line else { return Err(Breach::RequestLine) };
        let host = self.host.clone().map(|place| &bytes[place]);
        if !host.map_or(line.old, is_host) {
            return Err(Breach::Host);
        }
        target::check(&bytes[line.target.clone()], line.kind, host)?;
        match (self.length, self.chunked) {
            (Some(_), true) => Err(Breach::Length),
            (None, true) if line.old => Err(Breach::Coding),
            (None, true) => Ok(Framing::Chunks),
            (None, false) => Ok(Framing::Nothing),
            (Some(length), false) => Ok(Framing::length(length)),
        }
    }
}

/// Whether it is HTTP/1.0; `text` is the rest of a request line.
fn old_version(text: [u8; 10]) -> Result<bool, Breach> {
    match &text {
        b"HTTP/1.1\r\n" => Ok(false),
        b"HTTP/1.0\r\n" => Ok(true),
        [b'H', b'T', b'T', b'P', b'/', major, b'.', minor, b'\r', b'\n']
            if major.is_ascii_digit() && minor.is_ascii_digit() =>
        {
            Err(Breach::Version)
        }
        _ => Err(no_version(&text)),
    }
}

fn no_version(text: &[u8]) -> Breach {
    let end = text.iter().position(|byte| *byte == b'\n');
    match end {
        Some(end) if !text[..end].ends_with(b"\r") => Breach::LineEnd,
        _ => Breach::RequestLine,
    }
}

/// A number, as all programs write and read it: a sign, a list, white space inside and zeros in
/// front are read differently by different servers.
pub(super) fn length(digits: &[u8]) -> Result<u64, Breach> {
    let plain = digits.len() <= MAX_LENGTH_DIGITS && digits.iter().all(u8::is_ascii_digit);
    if !plain || digits.is_empty() || (digits[0] == b'0' && digits.len() > 1) {
        return Err(Breach::Length);
    }
    Ok(digits.iter().fold(0, |number, digit| number * 10 + u64::from(digit - b'0')))
}

/// `chunked` and nothing else.
fn coding(value: &[u8]) -> Result<(), Breach> {
    if value.eq_ignore_ascii_case(b"chunked") {
        return Ok(());
    }
    let mut codings = value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
    let last = codings.next_back().unwrap_or_default();
    let known = |coding: &[u8]| coding.eq_ignore_ascii_case(b"chunked");
    let plain = |coding: &[u8]| !coding.is_empty() && characters::all(coding, TOKEN) && !known(coding);
    // A client that says so has ended the message with chunks.
    if known(last) && codings.all(plain) { Err(Breach::UnknownCoding) } else { Err(Breach::Coding) }
}

fn connection(value: &[u8]) -> Result<(), Breach> {
    for option in value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii) {
        if !characters::all(option, TOKEN) || names::is_decisive(option) {
            return Err(Breach::Connection);
        }
    }
    Ok(())
}
