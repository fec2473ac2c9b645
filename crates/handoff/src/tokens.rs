//! [`Tokens`]: what a process has to know of sessions to begin a first request without the gate.

use core::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};

use memchr::memchr;

use crate::events::MAX_HEAD;

/// The longest name of a cookie.
pub const MAX_NAME: usize = 128;
/// Sessions that are to be asked about are marked in so many bits.
const MARKS: usize = 65_536;
const WORDS: usize = MARKS / u64::BITS as usize;

/// The text of a token, and what is looked at of it: base64url of bytes of which the first two are its version and its key, and
/// from others on, big-endian, its session and when that began and was last seen, ns since 1970.
const TEXT: usize = 64;
const SESSION: usize = 8;
const ISSUED: usize = 16;
const SEEN: usize = 24;
/// Bytes that times are compared by: what is left out is 65 us.
const TIME: usize = 6;

/// What a process has to know of sessions to begin a first request without the gate. As zeros it says that all are to be asked
/// about.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Tokens {
    /// 0: all are to be asked about; 1: there are no sessions; 2: who has none is to be asked about; 3: who has none is told of
    /// the one that is prepared.
    kind: AtomicU32,
    /// Whether rules look at each request.
    looks: AtomicU32,
    length: AtomicU32,
    name: [AtomicU8; MAX_NAME],
    /// First bytes of tokens that hold, a bit for each key: what was sealed with another is to be asked about.
    keys: [AtomicU64; 4],
    issued_since: AtomicU64,
    seen_since: AtomicU64,
    marks: [AtomicU64; WORDS],
}

/// What clients without a session are to have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strangers {
    /// There are no sessions.
    NoSession,
    /// What the gate says.
    Asked,
    /// The session that is prepared.
    Prepared,
}

/// What is to be done with the first request on a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum First {
    /// It begins; whether its client is told of the session that is prepared.
    Begins {
        /// Whether it is.
        is_told: bool,
    },
    /// The gate is asked. So it is about what is not there yet, and about other protocols than HTTP/1.
    Asks,
}

impl Tokens {
    const VERSION: u8 = 1;

    /// All are to be asked about.
    pub fn ask_about_all(&self) {
        self.kind.store(0, Ordering::Release);
    }

    /// From now on: what clients without a session have, the name of the cookie that others send, and the keys that their tokens
    /// are sealed with, by their numbers.
    pub fn set(&self, strangers: Strangers, name: &[u8], keys: impl Iterator<Item = u8>) {
        self.ask_about_all();
        if name.is_empty() || name.len() > MAX_NAME {
            return;
        }
        self.name.iter().zip(name).for_each(|(place, byte)| place.store(*byte, Ordering::Relaxed));
        self.length.store(name.len() as u32, Ordering::Relaxed);
        let mut all = [0; 4];
        keys.for_each(|key| all[usize::from(key / 64)] |= 1u64 << (key % 64));
        self.keys.iter().zip(all).for_each(|(word, keys)| word.store(keys, Ordering::Relaxed));
        let kind = match strangers {
            Strangers::NoSession => 1,
            Strangers::Asked => 2,
            Strangers::Prepared => 3,
        };
        self.kind.store(kind, Ordering::Release);
    }

    /// Whether rules look at each request, so that whole heads are to be told.
    pub fn look_at_heads(&self, look: bool) {
        self.looks.store(look.into(), Ordering::Release);
    }

    /// Whether they do.
    pub fn are_heads_looked_at(&self) -> bool {
        self.looks.load(Ordering::Acquire) != 0
    }

    /// Tokens of sessions that began earlier, or were seen last, are to be asked about; ns since 1970.
    pub fn set_since(&self, issued: u64, seen: u64) {
        self.issued_since.store(issued, Ordering::Relaxed);
        self.seen_since.store(seen, Ordering::Relaxed);
    }

    /// A session is to be asked about.
    pub fn mark(&self, session: u64) {
        let (word, bit) = place(session);
        self.marks[word].fetch_or(bit, Ordering::Release);
    }

    /// These are, and no others but by chance.
    pub fn mark_only(&self, sessions: impl Iterator<Item = u64>) {
        let mut marks = [0; WORDS];
        for (word, bit) in sessions.map(place) {
            marks[word] |= bit;
        }
        for (word, bits) in self.marks.iter().zip(marks) {
            if word.load(Ordering::Relaxed) != bits {
                word.store(bits, Ordering::Release);
            }
        }
    }

    /// What is to be done with a first request of which this is what is there, as much as there is room for in an event.
    pub fn first(&self, bytes: &[u8]) -> First {
        let kind = self.kind.load(Ordering::Acquire);
        if kind == 0 {
            return First::Asks;
        }
        let mut name = [0; MAX_NAME];
        let length = (self.length.load(Ordering::Relaxed) as usize).min(MAX_NAME);
        name.iter_mut().zip(&self.name).for_each(|(byte, place)| *byte = place.load(Ordering::Relaxed));
        match token(bytes, &name[..length]) {
            Found::None if kind == 1 => First::Begins { is_told: false },
            Found::None if kind == 3 => First::Begins { is_told: true },
            Found::One(text) if kind == 1 || self.holds(text) => First::Begins { is_told: false },
            _ => First::Asks,
        }
    }

    /// Whether there is nothing that the gate would have to say to who has this token, as far as can be seen without its key.
    fn holds(&self, text: &[u8]) -> bool {
        let mut token = [0; TEXT / 4 * 3];
        if !decode(text, &mut token) || token[0] != Self::VERSION {
            return false;
        }
        let key = token[1];
        let knows_key = self.keys[usize::from(key / 64)].load(Ordering::Relaxed) >> (key % 64) & 1 != 0;
        let (word, bit) = place(number::<8>(&token, SESSION));
        let is_marked = self.marks[word].load(Ordering::Acquire) & bit != 0;
        let since = |since: &AtomicU64| since.load(Ordering::Relaxed) >> 16;
        knows_key
            && !is_marked
            && number::<TIME>(&token, ISSUED) > since(&self.issued_since)
            && number::<TIME>(&token, SEEN) > since(&self.seen_since)
    }
}

/// Whether this has a whole head (RFC 9112 section 2.1).
pub fn is_whole(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    while let Some(end) = memchr(b'\n', rest) {
        let line = &rest[..end];
        // Empty lines before a request are not its end (section 2.2).
        if matches!(line, [] | b"\r") && rest.len() < bytes.len() && !is_blank(bytes, rest) {
            return true;
        }
        rest = &rest[end + 1..];
    }
    false
}

/// Whether there is nothing but line ends before `rest`.
fn is_blank(bytes: &[u8], rest: &[u8]) -> bool {
    bytes[..bytes.len() - rest.len()].iter().all(|byte| matches!(byte, b'\r' | b'\n'))
}

/// Where a session is marked (Fibonacci hashing: sessions are numbered one after the other).
fn place(session: u64) -> (usize, u64) {
    const RATIO: u64 = 0x9e37_79b9_7f4a_7c15;
    let at = (session.wrapping_mul(RATIO) >> 48) as usize;
    (at / 64, 1 << (at % 64))
}

/// Of so many bytes from there on, big-endian.
fn number<const BYTES: usize>(token: &[u8], at: usize) -> u64 {
    token[at..at + BYTES].iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// Reads base64url (RFC 4648 section 5) that is as long; whether it is that.
fn decode(text: &[u8], into: &mut [u8; TEXT / 4 * 3]) -> bool {
    let value = |byte: &u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'-' => Some(62),
        b'_' => Some(63),
        _ => None,
    };
    let is_long_enough = text.len() == TEXT;
    let read = |(bytes, four): (&mut [u8], &[u8])| {
        let bits = four.iter().try_fold(0u32, |bits, byte| Some(bits << 6 | u32::from(value(byte)?)));
        bits.map(|bits| bytes.copy_from_slice(&bits.to_be_bytes()[1..])).is_some()
    };
    is_long_enough && into.chunks_exact_mut(3).zip(text.chunks_exact(4)).all(read)
}

/// What is found in a head.
enum Found<'a> {
    /// It is not whole, not one of HTTP/1, too long, or has several.
    Unclear,
    /// No such cookie.
    None,
    /// Its value.
    One(&'a [u8]),
}

/// The cookie of that name in a head (RFC 6265 section 5.4).
fn token<'a>(bytes: &'a [u8], name: &[u8]) -> Found<'a> {
    const COOKIE: &[u8] = b"cookie:";
    let (mut found, mut rest, mut is_first) = (Found::None, &bytes[..bytes.len().min(MAX_HEAD)], true);
    while let Some(end) = memchr(b'\n', rest) {
        let line = rest[..end].strip_suffix(b"\r").unwrap_or(&rest[..end]);
        rest = &rest[end + 1..];
        if is_first {
            let version = line.len().checked_sub(b" HTTP/1.1".len()).map(|at| &line[at..]);
            if !version.is_some_and(|version| version.starts_with(b" HTTP/1.")) {
                return Found::Unclear;
            }
            is_first = false;
        } else if line.is_empty() {
            return found;
        } else if line.get(..COOKIE.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(COOKIE)) {
            for pair in line[COOKIE.len()..].split(|byte| *byte == b';') {
                let value =
                    pair.trim_ascii_start().strip_prefix(name).and_then(|rest| rest.strip_prefix(b"="));
                found = match (value, found) {
                    (Some(value), Found::None) => Found::One(value.trim_ascii()),
                    (Some(_), _) => return Found::Unclear,
                    (None, found) => found,
                };
            }
        }
    }
    Found::Unclear
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::boxed::Box;
    use std::format;
    use std::string::String;

    const SEEN_SINCE: u64 = 1_700_000_000_000_000_000;

    fn tokens(strangers: Strangers) -> Box<Tokens> {
        let tokens = Box::new(Tokens {
            kind: AtomicU32::new(0),
            looks: AtomicU32::new(0),
            length: AtomicU32::new(0),
            name: [const { AtomicU8::new(0) }; MAX_NAME],
            keys: [const { AtomicU64::new(0) }; 4],
            issued_since: AtomicU64::new(0),
            seen_since: AtomicU64::new(0),
            marks: [const { AtomicU64::new(0) }; WORDS],
        });
        tokens.set(strangers, b"headworks", [7, 200].into_iter());
        tokens.set_since(SEEN_SINCE - 1_000_000_000, SEEN_SINCE);
        tokens
    }

    /// A token as the gate writes it, but for its seal.
    fn text(key: u8, session: u64, seen: u64) -> String {
        const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
        let mut bytes = [0u8; 48];
        (bytes[0], bytes[1]) = (1, key);
        bytes[8..16].copy_from_slice(&session.to_be_bytes());
        bytes[16..24].copy_from_slice(&(seen - 500_000_000).to_be_bytes());
        bytes[24..32].copy_from_slice(&seen.to_be_bytes());
        let four = |three: &[u8]| {
            let bits = u32::from_be_bytes([0, three[0], three[1], three[2]]);
            [18, 12, 6, 0].map(|shift| char::from(ALPHABET[(bits >> shift) as usize & 63]))
        };
        bytes.chunks(3).flat_map(four).collect()
    }

    fn head(cookies: &str) -> String {
        format!("GET /a HTTP/1.1\r\nHost: x\r\nCOOKIE: {cookies}\r\nAccept: */*\r\n\r\n")
    }

    const LATER: u64 = SEEN_SINCE + 1_000_000;

    #[test]
    fn who_has_no_session_is_told_of_one_or_asked_about() {
        let bare = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n";
        for (strangers, first) in [
            (Strangers::Prepared, First::Begins { is_told: true }),
            (Strangers::NoSession, First::Begins { is_told: false }),
            (Strangers::Asked, First::Asks),
        ] {
            let tokens = tokens(strangers);
            assert_eq!(tokens.first(bare), first);
            assert_eq!(tokens.first(head("other=1; xheadworks=2; headworksx=3").as_bytes()), first);
        }
        let tokens = tokens(Strangers::Prepared);
        tokens.ask_about_all();
        assert_eq!(tokens.first(bare), First::Asks);
    }

    #[test]
    fn who_has_a_session_goes_on_with_it_if_there_is_nothing_to_say() {
        let tokens = tokens(Strangers::Prepared);
        let first = |cookies: &str| tokens.first(head(cookies).as_bytes());
        let goes_on = First::Begins { is_told: false };
        assert_eq!(first(&format!("a=b;headworks={}", text(7, 1, LATER))), goes_on);
        assert_eq!(first(&format!("headworks={} ; c", text(200, 2, LATER))), goes_on);
        let asked = [
            (text(8, 1, LATER), "sealed with another key"),
            (text(7, 1, SEEN_SINCE - 1_000_000), "to be renewed"),
            (text(7, 1, LATER).replace('A', "!"), "not a token"),
            (String::from("AQc"), "too short"),
            (format!("{}; headworks=x", text(7, 1, LATER)), "two of them"),
        ];
        for (text, why) in asked {
            assert_eq!(first(&format!("headworks={text}")), First::Asks, "{why}");
        }
    }

    #[test]
    fn a_head_is_whole_with_its_empty_line() {
        for whole in ["GET / HTTP/1.1\r\n\r\n", "\r\nGET / HTTP/1.1\nHost: x\n\nmore"] {
            assert!(is_whole(whole.as_bytes()), "{whole:?}");
        }
        for part in ["", "\r\n\r\n", "\r\n\r\nGET / HTTP/1.1\r\n", "GET / HTTP/1.1\r\nHost: x\r\n"] {
            assert!(!is_whole(part.as_bytes()), "{part:?}");
        }
    }

    #[test]
    fn sessions_that_are_marked_are_asked_about() {
        let tokens = tokens(Strangers::Prepared);
        let first =
            |session| tokens.first(head(&format!("headworks={}", text(7, session, LATER))).as_bytes());
        tokens.mark(77);
        assert_eq!(first(77), First::Asks);
        let others = (1000..2000).filter(|session| first(*session) == First::Asks).count();
        assert_eq!(others, 0, "as many as by chance");
        tokens.mark_only([88, 99].into_iter());
        assert_eq!([77, 88, 99].map(first), [First::Begins { is_told: false }, First::Asks, First::Asks]);
        tokens.mark_only(core::iter::empty());
        assert_eq!(first(88), First::Begins { is_told: false });
    }

    #[test]
    fn what_is_not_a_whole_head_of_http_is_asked_about() {
        let tokens = tokens(Strangers::NoSession);
        let long = format!("GET / HTTP/1.1\r\nX: {}\r\n\r\n", "a".repeat(MAX_HEAD));
        for bytes in ["", "G", "GET / HTTP/1.1\r\nHost: x\r\n", "GET /\r\n\r\n", "\0\0\r\n\r\n", &long] {
            assert_eq!(tokens.first(bytes.as_bytes()), First::Asks, "{bytes}");
        }
        assert_eq!(tokens.first(b"GET / HTTP/1.0\n\n"), First::Begins { is_told: false });
        assert_eq!(tokens.first(b"\x16\x03\x01\x02\x00\x01\n\n"), First::Asks);
        assert_eq!(tokens.first(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), First::Asks);
    }
}
