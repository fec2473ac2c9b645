//! Reading a file line by line, whatever is in it.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use super::error::Error;
use super::skipped::{Reason, Skipped};

/// No server accepts a request as long as a longer line.
const MAX_LINE_BYTES: usize = 64 * 1024;

/// What compressed files begin with, and what unpacks them.
const COMPRESSED: [(&[u8], &str); 4] = [
    (&[0x1f, 0x8b], "zcat"),
    (&[0x28, 0xb5, 0x2f, 0xfd], "zstdcat"),
    (&[0xfd, b'7', b'z', b'X', b'Z', 0], "xzcat"),
    (b"BZh", "bzcat"),
];

/// Opens a file and looks whether it is text.
pub(super) fn open(path: &Path) -> Result<impl BufRead, Error> {
    let failed = |why| Error::Read { path: path.to_owned(), why };
    let mut file = BufReader::with_capacity(MAX_LINE_BYTES, File::open(path).map_err(failed)?);
    let head = file.fill_buf().map_err(failed)?;
    match COMPRESSED.iter().find(|(magic, _)| head.starts_with(magic)) {
        Some((_, with)) => Err(Error::Compressed { path: path.to_owned(), with }),
        None => Ok(file),
    }
}

/// Hands out each line that is neither blank nor too long, without its end. What `each` says is
/// wrong with it is counted.
pub(super) fn lines(
    mut input: impl BufRead,
    skipped: &mut Skipped,
    mut each: impl FnMut(&[u8], &mut Skipped) -> Result<(), Reason>,
) -> io::Result<()> {
    let mut buffer = Vec::new();
    loop {
        buffer.clear();
        if (&mut input).take(MAX_LINE_BYTES as u64 + 1).read_until(b'\n', &mut buffer)? == 0 {
            return Ok(());
        }
        skipped.lines += 1;
        if buffer.len() > MAX_LINE_BYTES && buffer.last() != Some(&b'\n') {
            input.skip_until(b'\n')?;
            skipped.count(Reason::TooLong, &buffer);
            continue;
        }
        let text = content(&buffer);
        if !text.is_empty()
            && let Err(reason) = each(text, skipped)
        {
            skipped.count(reason, text);
        }
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
