//! [`Parser`]: server-sent events from bytes that come in any pieces (WHATWG HTML section 9.2.6).

/// An event, with a name other than the usual `message`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) name: String,
    pub(crate) data: Vec<u8>,
}

/// A line or the data of an event was longer than any of a gate's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooLong;

/// A sample of a gate with a hundred classes has some 30 kB.
const LONGEST: usize = 1 << 20;

/// What has been read of an event that is not complete.
#[derive(Debug, Default)]
pub(crate) struct Parser {
    line: Vec<u8>,
    /// The line before ended with CR: an LF belongs to it.
    after_return: bool,
    begun: bool,
    name: String,
    data: Vec<u8>,
    has_data: bool,
}

impl Parser {
    /// Takes bytes; the events that they complete.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Result<Vec<Event>, TooLong> {
        let mut events = Vec::new();
        for byte in bytes {
            match byte {
                b'\n' if self.after_return => self.after_return = false,
                b'\n' | b'\r' => {
                    self.after_return = *byte == b'\r';
                    events.extend(self.end_line()?);
                }
                byte => {
                    self.after_return = false;
                    if self.line.len() >= LONGEST {
                        return Err(TooLong);
                    }
                    self.line.push(*byte);
                }
            }
        }
        Ok(events)
    }

    fn end_line(&mut self) -> Result<Option<Event>, TooLong> {
        let line = std::mem::take(&mut self.line);
        let line = match line.strip_prefix(b"\xef\xbb\xbf") {
            Some(rest) if !self.begun => rest,
            _ => &line,
        };
        self.begun = true;
        if line.is_empty() {
            let (name, data) = (std::mem::take(&mut self.name), std::mem::take(&mut self.data));
            let complete = std::mem::take(&mut self.has_data);
            return Ok(complete.then_some(Event { name, data }));
        }
        let colon = line.iter().position(|byte| *byte == b':');
        let (field, value) = colon.map_or((line, &b""[..]), |colon| (&line[..colon], &line[colon + 1..]));
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"event" => self.name = String::from_utf8_lossy(value).into_owned(),
            b"data" => {
                if self.data.len() + value.len() >= LONGEST {
                    return Err(TooLong);
                }
                if self.has_data {
                    self.data.push(b'\n');
                }
                self.has_data = true;
                self.data.extend_from_slice(value);
            }
            // A comment, an id, a time to come back: a console begins anew.
            _ => {}
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn event(name: &str, data: &str) -> Event {
        Event { name: name.to_owned(), data: data.as_bytes().to_vec() }
    }

    const STREAM: &[u8] = b"\xef\xbb\xbfretry: 2000\n: listening\n\nid: 1\nevent: knobs\ndata: {\"a\":1}\n\n\
        event:sample\r\ndata: 1\r\ndata:2\r\n\r\ndata\r\revent: lost\n\n: alive\n\nevent: open\ndata: x\n";

    #[test]
    fn events_come_in_any_pieces() {
        let expected = [event("knobs", "{\"a\":1}"), event("sample", "1\n2"), event("", "")];
        assert_eq!(Parser::default().feed(STREAM).unwrap(), expected);
        let mut parser = Parser::default();
        let one_by_one: Vec<_> = STREAM.chunks(1).flat_map(|piece| parser.feed(piece).unwrap()).collect();
        assert_eq!(one_by_one, expected);
    }

    #[test]
    fn a_line_without_an_end_is_not_kept() {
        let mut parser = Parser::default();
        let piece = [b'x'; 1 << 16];
        let taken = (0..100).take_while(|_| parser.feed(&piece).is_ok()).count();
        assert_eq!(taken, LONGEST / piece.len());
        let mut parser = Parser::default();
        let mut line = b"data: ".to_vec();
        line.extend([b'x'; 1 << 16]);
        line.push(b'\n');
        assert!((0..100).any(|_| parser.feed(&line) == Err(TooLong)));
    }

    proptest! {
        #[test]
        fn it_does_not_matter_where_the_pieces_end(bytes in "[a:\r\n de]{0,60}", cut in 0..60_usize) {
            let bytes = ["data: ", &bytes, "\n\n"].concat().into_bytes();
            let whole = Parser::default().feed(&bytes).unwrap();
            let (left, right) = bytes.split_at(cut.min(bytes.len()));
            let mut parser = Parser::default();
            let mut pieces = parser.feed(left).unwrap();
            pieces.extend(parser.feed(right).unwrap());
            prop_assert_eq!(whole, pieces);
        }

        #[test]
        fn any_bytes_are_taken(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = Parser::default().feed(&bytes);
        }
    }
}
