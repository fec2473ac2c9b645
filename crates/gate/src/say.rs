//! [`say!`](crate::say::say): lines for the operator, on standard error.

use std::fmt;
use std::io::{self, Write as _};

/// Writes a line for the operator, as `eprintln!` does after `gate: `.
macro_rules! say {
    ($($text:tt)*) => { $crate::say::line(format_args!($($text)*)) };
}

pub(crate) use say;

/// At once, so that lines of several threads do not mix. `eprintln!` would panic where nobody reads
/// standard error any more (a pipe whose reader has ended), and take the task with it that only
/// wanted to mention something.
pub(crate) fn line(text: fmt::Arguments<'_>) {
    let line = format!("gate: {text}\n");
    let _ = io::stderr().write_all(line.as_bytes());
}
