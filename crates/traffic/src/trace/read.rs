//! Reading files line by line, whatever is in them.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;
use std::sync::Arc;

use flate2::bufread::MultiGzDecoder;
use units::Span;

use super::entry::Entry;
use super::error::Error;
use super::files::{Files, is_standard_input};
use super::format::{Format, Parser};
use super::line_format::LineFormat;
use super::resolution::Resolution;
use super::skipped::{Place, Reason, Skipped};

/// No server accepts a request as long as a longer line.
const MAX_LINE_BYTES: usize = 64 * 1024;

const GZIP: &[u8] = &[0x1f, 0x8b];

/// What other compressed files begin with, and what unpacks them.
const COMPRESSED: [(&[u8], &str); 3] = [
    (&[0x28, 0xb5, 0x2f, 0xfd], "zstdcat"),
    (&[0xfd, b'7', b'z', b'X', b'Z', 0], "xzcat"),
    (b"BZh", "bzcat"),
];

/// The longest of them.
const MAGIC_BYTES: u64 = 6;

/// How lines are to be understood.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reading<'f> {
    pub(super) format: Option<&'f Format>,
    /// Whether a line may be a time alone.
    pub(super) takes_times: bool,
}

impl Reading<'_> {
    /// Hands out what each line says of the files that `name` stands for, one file after the other. `take` gives whether
    /// it is kept.
    pub(super) fn files(
        self,
        name: &Path,
        skipped: &mut Skipped,
        mut take: impl FnMut(Entry, &mut Skipped) -> Result<bool, Reason>,
    ) -> Result<(), Error> {
        let files = Files::named(name);
        for path in files.iter() {
            let file = files.are_several().then(|| Arc::from(path.display().to_string()));
            self.lines(path, open(path)?, file.as_ref(), skipped, &mut take)?;
        }
        Ok(())
    }

    /// Hands out what each line of `input` says; in errors it is called `path`.
    pub(super) fn lines(
        self,
        path: &Path,
        mut input: impl BufRead,
        file: Option<&Arc<str>>,
        skipped: &mut Skipped,
        take: &mut impl FnMut(Entry, &mut Skipped) -> Result<bool, Reason>,
    ) -> Result<(), Error> {
        let failed = |why| Error::Read { path: path.to_owned(), why };
        let mut parser = Parser::new(self.format, self.takes_times);
        let mut lines = Lines { file, skipped, take, first: First::NotYet, before: None, latest: Span::ZERO };
        let (mut buffer, mut number) = (Vec::new(), 0);
        loop {
            buffer.clear();
            let limit = MAX_LINE_BYTES as u64 + 1;
            if (&mut input).take(limit).read_until(b'\n', &mut buffer).map_err(failed)? == 0 {
                break;
            }
            number += 1;
            lines.skipped.lines += 1;
            let is_whole = buffer.last() == Some(&b'\n');
            if buffer.len() > MAX_LINE_BYTES && !is_whole {
                input.skip_until(b'\n').map_err(failed)?;
                lines.put(Err(Reason::TooLong), &buffer, number);
                continue;
            }
            let text = content(&buffer);
            if text.is_empty() {
                continue;
            }
            let read = match parser.line(text) {
                Ok(None) => {
                    lines.first_is_whole();
                    continue;
                }
                Ok(Some(entry)) => Ok(entry),
                Err(reason) => Err(reason),
            };
            lines.put(if is_whole { read } else { lines.last(read) }, text, number);
        }
        if let Some(rest) = parser.rest() {
            lines.put(Err(Reason::Cut), rest.as_bytes(), number);
        }
        lines.end();
        Ok(())
    }
}

/// The lines of one file on their way to where they are kept.
struct Lines<'a, T> {
    file: Option<&'a Arc<str>>,
    skipped: &'a mut Skipped,
    take: &'a mut T,
    first: First,
    /// What the line before has, for a line that has no end.
    before: Option<Before>,
    latest: Span,
}

/// The first line, which may have lost its beginning: the second tells.
enum First {
    NotYet,
    Held { read: Box<Result<Entry, Reason>>, text: Vec<u8>, number: u64 },
    Told,
}

struct Before {
    format: LineFormat,
    fields: usize,
    at: Span,
    resolution: Resolution,
}

impl Before {
    fn of(entry: &Entry) -> Self {
        Self {
            format: entry.format,
            fields: entry.fields,
            at: entry.when.began(),
            resolution: entry.when.stamp.resolution,
        }
    }
}

/// So much later than the first line the second is not, unless the first is half a number of seconds.
const YEAR: Span = Span::from_secs(366 * 24 * 3600);

impl<T: FnMut(Entry, &mut Skipped) -> Result<bool, Reason>> Lines<'_, T> {
    fn put(&mut self, read: Result<Entry, Reason>, text: &[u8], number: u64) {
        match std::mem::replace(&mut self.first, First::Told) {
            First::NotYet => {
                self.first = First::Held { read: Box::new(read), text: text.to_vec(), number };
                return;
            }
            First::Held { read: first, text, number } => {
                let first = if is_cut(&first, &text, &read) { Err(Reason::Cut) } else { *first };
                self.keep(first, &text, number);
            }
            First::Told => {}
        }
        self.keep(read, text, number);
    }

    /// The file begins with something that is as it should be.
    fn first_is_whole(&mut self) {
        if matches!(self.first, First::NotYet) {
            self.first = First::Told;
        }
    }

    fn end(&mut self) {
        if let First::Held { read, text, number } = std::mem::replace(&mut self.first, First::Told) {
            self.keep(*read, &text, number);
        }
    }

    fn keep(&mut self, read: Result<Entry, Reason>, text: &[u8], number: u64) {
        let kept = read.and_then(|entry| {
            let before = self.before.insert(Before::of(&entry));
            let at = before.at;
            Ok(((self.take)(entry, self.skipped)?, at))
        });
        match kept {
            Ok((true, at)) => {
                self.skipped.out_of_order += u64::from(at < self.latest);
                self.latest = self.latest.max(at);
            }
            Ok((false, _)) => {}
            Err(reason) => self.skipped.count(reason, text, Place { file: self.file, number }),
        }
    }

    /// A last line without its end is read if there is nothing missing: it has as much as the one before, and its time is
    /// as fine.
    fn last(&self, read: Result<Entry, Reason>) -> Result<Entry, Reason> {
        let entry = read.map_err(|reason| if reason.may_be_cut() { Reason::Cut } else { reason })?;
        let before = match &self.first {
            First::Held { read, .. } => read.as_ref().as_ref().ok().map(Before::of),
            First::NotYet | First::Told => None,
        };
        let is_less = |before: &Before| {
            let is_time_alone = entry.fields == 0 && before.fields == 0 && entry.status.is_none();
            (entry.format == before.format && entry.fields < before.fields)
                || (is_time_alone
                    && (entry.when.stamp.resolution < before.resolution || entry.when.began() < before.at))
        };
        let is_cut = entry.is_open || before.as_ref().or(self.before.as_ref()).is_some_and(is_less);
        if is_cut { Err(Reason::Cut) } else { Ok(entry) }
    }
}

fn is_cut(first: &Result<Entry, Reason>, text: &[u8], second: &Result<Entry, Reason>) -> bool {
    let Ok(second) = second else { return false };
    match first {
        // A file of times may have a heading.
        Err(reason) => reason.may_be_cut() && second.fields > 0,
        // Seconds since 1970 that have lost their first digit are of another decade.
        Ok(first) => {
            let word = text.split(u8::is_ascii_whitespace).next().unwrap_or_default();
            let is_number = word.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.');
            is_number && second.when.stamp.is_of_the_web() && first.when.began() + YEAR < second.when.began()
        }
    }
}

/// Opens a file, or standard input, and unpacks it if it is compressed as gzip does it.
fn open(path: &Path) -> Result<Box<dyn BufRead>, Error> {
    let failed = |why| Error::Read { path: path.to_owned(), why };
    let file: Box<dyn Read> = if is_standard_input(path) {
        Box::new(io::stdin().lock())
    } else {
        Box::new(File::open(path).map_err(failed)?)
    };
    unpacked(path, file).map_err(failed)?
}

fn unpacked(path: &Path, mut file: Box<dyn Read>) -> io::Result<Result<Box<dyn BufRead>, Error>> {
    // A pipe may give less at a time than is asked for.
    let mut head = Vec::new();
    (&mut file).take(MAGIC_BYTES).read_to_end(&mut head)?;
    if let Some((_, with)) = COMPRESSED.iter().find(|(magic, _)| head.starts_with(magic)) {
        return Ok(Err(Error::Compressed { path: path.to_owned(), with }));
    }
    let is_gzip = head.starts_with(GZIP);
    let whole = BufReader::with_capacity(MAX_LINE_BYTES, Cursor::new(head).chain(file));
    Ok(Ok(if is_gzip {
        Box::new(BufReader::with_capacity(MAX_LINE_BYTES, Unpacked(MultiGzDecoder::new(whole))))
    } else {
        Box::new(whole)
    }))
}

/// What says of errors that they are in what is compressed.
struct Unpacked<R>(R);

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(|why| match why.kind() {
            io::ErrorKind::UnexpectedEof => io::Error::new(why.kind(), "its compressed data are cut off"),
            kind => io::Error::new(kind, format!("its compressed data are broken: {why}")),
        })
    }
}

/// A line without blanks around it, and without the zeros that a log begins with when it was
/// cut while its server went on writing.
fn content(line: &[u8]) -> &[u8] {
    let is_content = |byte: &u8| *byte != 0 && !byte.is_ascii_whitespace();
    match (line.iter().position(is_content), line.iter().rposition(is_content)) {
        (Some(first), Some(last)) => line.get(first..=last).unwrap_or(&[]),
        _ => &[],
    }
}
