//! [`Skipped`]: what is in a file and not in the trace.

use std::fmt;

/// How many broken lines are shown.
const EXAMPLES: usize = 5;

/// Of a line that is shown, so many bytes.
const SHOWN: usize = 120;

/// What a reader passed over.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Skipped {
    /// Lines of the file, blank ones included.
    pub lines: u64,
    /// Requests with methods other than GET and HEAD: what was sent with them is not in a log.
    pub other_methods: u64,
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
    const ALL: [Self; 5] = [Self::NoRequest, Self::NoTime, Self::Empty, Self::BadRequest, Self::TooLong];
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoRequest => "no request in quotes",
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

    pub(super) fn count(&mut self, reason: Reason, text: &[u8]) {
        if let Some(count) = self.broken.get_mut(reason as usize) {
            *count += 1;
        }
        if self.examples.len() < EXAMPLES {
            let text = text.get(..SHOWN).unwrap_or(text).iter().map(|byte| shown(*byte)).collect();
            self.examples.push(BrokenLine { number: self.lines, reason, text });
        }
    }
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
        if self.other_methods > 0 {
            write!(f, ", {} neither GET nor HEAD", self.other_methods)?;
        }
        if self.out_of_order > 0 {
            write!(f, ", {} put in order", self.out_of_order)?;
        }
        for BrokenLine { number, reason, text } in &self.examples {
            write!(f, "\n  line {number}: {reason}: {text}")?;
        }
        Ok(())
    }
}
