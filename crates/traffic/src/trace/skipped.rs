//! [`Skipped`]: what is in a file and not in the trace.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// How many broken lines are shown.
const EXAMPLES: usize = 5;

/// Of a line that is shown, so many bytes.
const SHOWN: usize = 120;

/// How many methods are told apart: a scan may have thousands.
const METHODS: usize = 12;

/// What a reader passed over.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Skipped {
    /// Lines of the file, blank ones included.
    pub lines: u64,
    /// Requests that were left out, by their methods: what was sent with them is not in the log, or they ask for nothing
    /// that has a path.
    pub left_out: BTreeMap<Box<str>, u64>,
    /// Times before that of an earlier line. These are not left out, but put in order: servers
    /// write a line when a response ends, and Apache writes when it began.
    pub out_of_order: u64,
    /// The first broken lines.
    pub examples: Vec<BrokenLine>,
    broken: [u64; Reason::ALL.len()],
}

/// A line that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokenLine {
    /// The file that it is in, where there are several.
    pub file: Option<Arc<str>>,
    /// From 1.
    pub number: u64,
    /// What is wrong.
    pub reason: Reason,
    /// Its beginning, with everything but printable ASCII escaped.
    pub text: String,
}

/// What can be wrong with a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// No request in quotes.
    NoRequest,
    /// No object of JSON.
    NotJson,
    /// No fields that have a request.
    NoFields,
    /// Not of the format that the user gave.
    OtherFormat,
    /// Its end is missing, or, in the first line of a file, its beginning.
    Cut,
    /// No time that can be understood.
    NoTime,
    /// The request is empty or `-`: the client closed the connection, or sent nothing in time.
    Empty,
    /// The request is not a request line of HTTP, such as a TLS handshake.
    BadRequest,
    /// Longer than 64 KiB.
    TooLong,
}

impl Reason {
    const ALL: [Self; 9] = [
        Self::NoRequest,
        Self::NotJson,
        Self::NoFields,
        Self::OtherFormat,
        Self::Cut,
        Self::NoTime,
        Self::Empty,
        Self::BadRequest,
        Self::TooLong,
    ];

    /// Whether it may be that the beginning of the line is missing.
    pub(super) const fn may_be_cut(self) -> bool {
        matches!(self, Self::NoRequest | Self::NotJson | Self::NoFields | Self::OtherFormat | Self::NoTime)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoRequest => "no request in quotes",
            Self::NotJson => "no whole object of JSON",
            Self::NoFields => "no fields that have a request",
            Self::OtherFormat => "not of the format given",
            Self::Cut => "cut off",
            Self::NoTime => "no time that can be understood",
            Self::Empty => "connection without a request",
            Self::BadRequest => "no request line of HTTP",
            Self::TooLong => "longer than 64 KiB",
        })
    }
}

impl Skipped {
    /// How many lines were broken, for whatever reason.
    pub fn broken(&self) -> u64 {
        self.broken.iter().sum()
    }

    /// How many lines were broken for each reason that occurred.
    pub fn reasons(&self) -> impl Iterator<Item = (Reason, u64)> {
        Reason::ALL.into_iter().zip(self.broken).filter(|(_, count)| *count > 0)
    }

    /// How many requests were left out.
    pub fn other_methods(&self) -> u64 {
        self.left_out.values().sum()
    }

    /// Counts a request that is left out.
    pub(super) fn leave_out(&mut self, method: &[u8]) {
        let method = match str::from_utf8(method) {
            Ok(method) if self.left_out.len() < METHODS || self.left_out.contains_key(method) => method,
            _ => "others",
        };
        match self.left_out.get_mut(method) {
            Some(count) => *count += 1,
            None => {
                self.left_out.insert(method.into(), 1);
            }
        }
    }

    pub(super) fn count(&mut self, reason: Reason, text: &[u8], place: Place<'_>) {
        if let Some(count) = self.broken.get_mut(reason as usize) {
            *count += 1;
        }
        if self.examples.len() < EXAMPLES {
            let text = text.get(..SHOWN).unwrap_or(text).iter().map(|byte| shown(*byte)).collect();
            let Place { file, number } = place;
            self.examples.push(BrokenLine { file: file.cloned(), number, reason, text });
        }
    }
}

/// Where a line is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) file: Option<&'a Arc<str>>,
    pub(super) number: u64,
}

fn shown(byte: u8) -> String {
    match byte {
        b' '..=b'~' => char::from(byte).to_string(),
        _ => byte.escape_ascii().to_string(),
    }
}

impl fmt::Display for Skipped {
    /// One line for the counts, then one for each example.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.lines, if self.lines == 1 { "line" } else { "lines" })?;
        for (reason, count) in self.reasons() {
            write!(f, ", {count} broken ({reason})")?;
        }
        if !self.left_out.is_empty() {
            let methods: Vec<String> =
                self.left_out.iter().map(|(method, count)| format!("{count} {method}")).collect();
            let (count, methods) = (self.other_methods(), methods.join(", "));
            write!(f, ", {count} left out, without a body in the log or a path ({methods})")?;
        }
        if self.out_of_order > 0 {
            write!(f, ", {} put in order", self.out_of_order)?;
        }
        self.examples.iter().try_for_each(|line| write!(f, "\n  {line}"))
    }
}

impl fmt::Display for BrokenLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, number, reason, text } = self;
        if let Some(file) = file {
            write!(f, "{file}, ")?;
        }
        write!(f, "line {number}: {reason}: {text}")
    }
}
