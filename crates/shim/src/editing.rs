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
    /// What remains of a part: what is before and behind what is cut out, each empty where there is nothing.
    fn kept(&self, part: Range<usize>) -> [Range<usize>; 2] {
        if self.cut.is_empty() {
            return [part.clone(), part.end..part.end];
        }
        let within = |at: usize| at.clamp(part.start, part.end);
        [part.start..within(self.cut.start), within(self.cut.end)..part.end]
    }

    /// What is written, in order: parts of a piece that begins at `start`, `None` for the line. Behind the last piece it may
    /// come as well.
    pub(crate) fn parts(&self, start: usize, length: usize, is_last: bool) -> [Option<Range<usize>>; 5] {
        let end = start + length;
        let is_in_it = self.inserted > 0 && (start..end + usize::from(is_last)).contains(&self.at);
        let at = if is_in_it { self.at } else { end };
        let ([a, b], [c, d]) = (self.kept(start..at), self.kept(at..end));
        let of_piece = |part: Range<usize>| Some(part.start - start..part.end - start);
        let line = if is_in_it { None } else { Some(0..0) };
        [of_piece(a), of_piece(b), line, of_piece(c), of_piece(d)]
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
        for (index, piece) in pieces.iter().enumerate() {
            for part in edit.parts(start, piece.len(), index + 1 == pieces.len()) {
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

    #[track_caller]
    fn is_changed(text: &str) {
        let line = "Set-Cookie: x\r\n";
        let at = text.find('\n').unwrap() + 1;
        let cut = class_line([text.as_bytes()].into_iter()).unwrap_or(0..0);
        for split in 0..=text.len() {
            let (first, second) = text.split_at(split);
            let found = class_line([first, second].into_iter().map(str::as_bytes)).unwrap_or(0..0);
            let is_split = split > cut.start && split < cut.end;
            assert_eq!(found.is_empty(), is_split || cut.is_empty(), "{split}");
            let with_line = [(at, line.len()), (0, line.len()), (0, 0)];
            for edit in with_line.map(|(at, inserted)| Edit { at, inserted, cut: found.clone() }) {
                let (bytes, whose) = written(&edit, &[first, second], line);
                let mut expected = text.to_owned();
                expected.replace_range(found.clone(), "");
                if edit.inserted > 0 {
                    expected.insert_str(edit.at, line);
                }
                assert_eq!(std::str::from_utf8(&bytes).unwrap(), expected, "{split}");
                // After a write of any length the rest begins with the server's next byte, or that of the line.
                for length in 0..=bytes.len() {
                    let went = edit.went(length);
                    let of_line = whose[..length].iter().filter(|whose| whose.is_none()).count();
                    assert_eq!(went.inserted, of_line);
                    let is_line_over = went.inserted == edit.inserted;
                    match whose.get(length) {
                        Some(None) => assert_eq!(went.own, edit.at),
                        Some(Some(next)) if is_line_over || *next < edit.at => assert_eq!(went.own, *next),
                        Some(Some(next)) => panic!("{next} before the line is over"),
                        None => assert_eq!(went.own, text.len()),
                    }
                }
            }
        }
    }

    #[test]
    fn a_line_is_inserted_and_another_cut_out_wherever_pieces_begin() {
        let text =
            "HTTP/1.1 200 OK\r\nA: b\r\nheadworks-CLASS:  gold \r\nC: d\r\n\r\nHeadworks-Class: no\r\n";
        let cut = class_line([text.as_bytes()].into_iter()).unwrap();
        assert_eq!(named(&text.as_bytes()[cut]), Some(&b"gold"[..]));
        is_changed(text);
        // Where the one is, the other is as well.
        is_changed("HTTP/1.1 200 OK\r\nHeadworks-Class: gold\r\nC: d\r\n\r\n");
        is_changed("HTTP/1.1 200 OK\r\nHeadworks-Class: gold\r\n");
        is_changed("HTTP/1.1 200 OK\r\n");
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
