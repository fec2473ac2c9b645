//! What a response is changed in on its way out: a line is inserted, and one is cut out.

use core::ops::Range;

/// By this header of a response the server raises the class of the session (Web2K section 2); it is not the client's.
const CLASS: &[u8] = b"headworks-class:";

/// A change of what is written, which is counted from its first byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Edit {
    /// Before this byte the line is inserted.
    pub(crate) at: usize,
    /// As many bytes of it are.
    pub(crate) inserted: usize,
    /// These bytes are left out; an empty range of none.
    pub(crate) cut: Range<usize>,
}

/// How much of what was written is whose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Went {
    /// Of the server's bytes, those that were cut out among them.
    pub(crate) own: usize,
    /// Of the line.
    pub(crate) inserted: usize,
}

impl Edit {
    /// What remains of a piece that begins at `start`: parts before and behind what is cut out, each empty where there are none.
    fn kept(&self, start: usize, length: usize) -> [Range<usize>; 2] {
        let end = start + length;
        let before = start..self.cut.start.clamp(start, end);
        let behind = self.cut.end.clamp(start, end)..end;
        match self.cut.is_empty() {
            true => [start..end, end..end],
            false => [before, behind],
        }
    }

    /// What is written, in order: parts of a piece that begins at `start`, `None` for the line.
    pub(crate) fn parts(&self, start: usize, length: usize) -> [Option<Range<usize>>; 5] {
        let mut parts = [const { Some(0..0) }; 5];
        let mut places = parts.iter_mut();
        let mut add = |part: Option<Range<usize>>| {
            if let Some(place) = places.next() {
                *place = part.map(|part| part.start - start..part.end - start);
            }
        };
        for part in self.kept(start, length) {
            let is_in_it = self.inserted > 0 && part.contains(&self.at);
            if is_in_it {
                add(Some(part.start..self.at));
                add(None);
                add(Some(self.at..part.end));
            } else if !part.is_empty() {
                add(Some(part));
            }
        }
        parts
    }

    /// What so many bytes that were written are. What is cut out goes with what was before it.
    pub(crate) fn went(&self, written: usize) -> Went {
        let inserted = written.saturating_sub(self.at).min(self.inserted);
        let own = written - inserted;
        let is_past = !self.cut.is_empty() && own >= self.cut.start && inserted == self.inserted;
        Went { own: if is_past { own + self.cut.len() } else { own }, inserted }
    }
}

/// The line by which the server names a class, in pieces of the head of a response that begin with a line; as counted from
/// their first byte. A line that is not whole in one piece is not found.
pub(crate) fn class_line<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Option<Range<usize>> {
    let (mut base, mut begins) = (0, true);
    for piece in pieces {
        let mut at = 0;
        while at < piece.len() {
            let end = memchr::memchr(b'\n', &piece[at..]).map(|end| at + end + 1);
            let line = &piece[at..end.unwrap_or(piece.len())];
            if begins && matches!(line, b"\n" | b"\r\n") {
                return None;
            }
            let is_it = begins && matches!(line.first(), Some(b'h' | b'H')) && named(line).is_some();
            if let Some(end) = end.filter(|_| is_it) {
                return Some(base + at..base + end);
            }
            begins = end.is_some();
            at = end.unwrap_or(piece.len());
        }
        base += piece.len();
    }
    None
}

/// The class that a line names.
pub(crate) fn named(line: &[u8]) -> Option<&[u8]> {
    let (name, value) = line.split_at_checked(CLASS.len())?;
    name.eq_ignore_ascii_case(CLASS).then(|| value.trim_ascii())
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::borrow::ToOwned as _;
    use std::vec::Vec;

    /// What is written, and which byte of it is whose: the server's by its place.
    fn written(edit: &Edit, pieces: &[&str], line: &str) -> (Vec<u8>, Vec<Option<usize>>) {
        let (mut bytes, mut whose, mut start) = (Vec::new(), Vec::new(), 0);
        for piece in pieces {
            for part in edit.parts(start, piece.len()) {
                match part {
                    Some(part) => {
                        bytes.extend(&piece.as_bytes()[part.clone()]);
                        whose.extend(part.map(|at| Some(start + at)));
                    }
                    None => {
                        bytes.extend(line.as_bytes());
                        whose.extend(line.bytes().map(|_| None));
                    }
                }
            }
            start += piece.len();
        }
        (bytes, whose)
    }

    #[test]
    fn a_line_is_inserted_and_another_cut_out_wherever_pieces_begin() {
        let text =
            "HTTP/1.1 200 OK\r\nA: b\r\nheadworks-CLASS:  gold \r\nC: d\r\n\r\nHeadworks-Class: no\r\n";
        let line = "Set-Cookie: x\r\n";
        let at = text.find('\n').unwrap() + 1;
        let cut = class_line([text.as_bytes()].into_iter()).unwrap();
        assert_eq!(named(&text.as_bytes()[cut.clone()]), Some(&b"gold"[..]));
        for split in 0..text.len() {
            let (first, second) = text.split_at(split);
            let found = class_line([first, second].into_iter().map(str::as_bytes));
            let is_split = split > cut.start && split < cut.end;
            assert_eq!(found.is_none(), is_split, "{split}");
            for edit in [
                Edit { at, inserted: line.len(), cut: found.clone().unwrap_or(0..0) },
                Edit { at: 0, inserted: 0, cut: found.unwrap_or(0..0) },
            ] {
                let (bytes, whose) = written(&edit, &[first, second], line);
                let mut expected = text.to_owned();
                if !is_split {
                    expected.replace_range(cut.clone(), "");
                }
                if edit.inserted > 0 {
                    expected.insert_str(at, line);
                }
                assert_eq!(std::str::from_utf8(&bytes).unwrap(), expected);
                // After a write of any length the rest begins with the server's next byte, or that of the line.
                for length in 0..=bytes.len() {
                    let went = edit.went(length);
                    let of_line = whose[..length].iter().filter(|whose| whose.is_none()).count();
                    assert_eq!(went.inserted, of_line);
                    match whose.get(length) {
                        Some(Some(next)) if went.inserted == edit.inserted => assert_eq!(went.own, *next),
                        Some(None) => assert_eq!(went.own, edit.at),
                        Some(Some(next)) => assert_eq!(went.own, *next),
                        None => assert_eq!(went.own, text.len()),
                    }
                }
            }
        }
    }

    #[test]
    fn only_the_head_has_such_a_line() {
        for text in [
            "HTTP/1.1 200 OK\r\n\r\nHeadworks-Class: a\r\n",
            "X-Headworks-Class: a\r\n",
            "Headworks-Classy: a\r\n",
        ] {
            assert_eq!(class_line([text.as_bytes()].into_iter()), None, "{text}");
        }
    }
}
