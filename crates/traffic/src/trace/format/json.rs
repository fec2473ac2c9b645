//! Objects of JSON: nginx's `escape=json`, Caddy, Traefik, the gate, and others whose fields have the usual names.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::gathered::{Gathered, Moment, Role, Unit};
use super::json_fields::{Known, known};
use crate::trace::entry::Entry;
use crate::trace::line_format::LineFormat;
use crate::trace::skipped::Reason;
use crate::trace::target::unescaped;

/// How deep objects are looked into: Caddy has `request.headers.Host`, ECS `http.response.body.bytes`.
const DEPTH: usize = 5;

/// Bytes that are not UTF-8 stand here among the characters that texts do not have (U+F780 to U+F7FF), so that a log with
/// bytes as clients sent them can be read as JSON.
const FOREIGN: u32 = 0xf700;

pub(super) fn read(text: &[u8]) -> Result<Entry, Reason> {
    let (text, is_foreign) = match str::from_utf8(text) {
        Ok(text) => (Cow::Borrowed(text), false),
        Err(_) => (Cow::Owned(with_foreign(text)), true),
    };
    let mut object = Object { is_foreign, ..Object::default() };
    if let Ok(members) = serde_json::from_str(&text) {
        object.take(members, "", DEPTH);
    } else {
        // nginx without escape=json writes `\x22` for a quote, which JSON does not have.
        let escaped = text.replace(r"\x", r"\\x");
        object.is_escaped = true;
        object.take(serde_json::from_str(&escaped).map_err(|_| Reason::NotJson)?, "", DEPTH);
    }
    object.entry()
}

fn with_foreign(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() + 16);
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        let foreign = chunk.invalid().iter().filter_map(|byte| char::from_u32(FOREIGN + u32::from(*byte)));
        text.extend(foreign);
    }
    text
}

fn without_foreign(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    for letter in text.chars() {
        match u32::from(letter).checked_sub(FOREIGN).and_then(|byte| u8::try_from(byte).ok()) {
            Some(byte) if byte >= 0x80 => bytes.push(byte),
            _ => bytes.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    bytes
}

/// What has been seen of an object.
#[derive(Debug, Default)]
struct Object {
    gathered: Gathered,
    is_foreign: bool,
    /// Whether texts have the escapes of a log besides those of JSON.
    is_escaped: bool,
    is_caddy: bool,
    is_traefik: bool,
    is_nginx: bool,
    /// How long it took, in a unit that depends on who wrote it.
    duration: Option<Vec<u8>>,
}

impl Object {
    fn take(&mut self, members: Members<'_>, within: &str, depth: usize) {
        for (name, value) in members.0 {
            let letters = name.chars().filter(char::is_ascii_alphanumeric);
            let mut full = within.to_owned();
            full.extend(letters.map(|letter| letter.to_ascii_lowercase()));
            self.take_value(Name { full: &full, within: within.len() }, value, depth);
        }
    }

    fn take_value(&mut self, name: Name<'_>, value: &RawValue, depth: usize) {
        let raw = value.get();
        match raw.as_bytes().first() {
            Some(b'{') if depth > 0 => {
                if let Ok(members) = serde_json::from_str(raw) {
                    self.take(members, name.full, depth - 1);
                }
            }
            // Go's servers log each header field as a list.
            Some(b'[') if depth > 0 => {
                if let Ok(values) = serde_json::from_str::<Vec<&RawValue>>(raw)
                    && let Some(first) = values.first()
                {
                    self.take_value(name, first, depth - 1);
                }
            }
            Some(b'"') => {
                if let Some((name, known)) = name.known()
                    && let Ok(text) = serde_json::from_str::<String>(raw)
                {
                    self.know(name, known, self.bytes_of(text));
                }
            }
            Some(b'-' | b'0'..=b'9') => {
                if let Some((name, known)) = name.known() {
                    self.know(name, known, raw.as_bytes().to_vec());
                }
            }
            _ => {}
        }
    }

    fn bytes_of(&self, text: String) -> Vec<u8> {
        let bytes = if self.is_foreign { without_foreign(&text) } else { text.into_bytes() };
        if self.is_escaped { unescaped(&bytes) } else { bytes }
    }

    fn know(&mut self, name: &str, known: Known, text: Vec<u8>) {
        match known {
            Known::Role(role, rank) => {
                self.is_nginx |= matches!(name, "timelocal" | "timeiso8601" | "msec");
                self.is_traefik |= matches!(name, "startutc" | "startlocal" | "downstreamstatus");
                self.gathered.add(role, rank, text);
            }
            // nginx's $request_time has a point; a whole number is of some other unit.
            Known::RequestTime if text.contains(&b'.') => {
                self.is_nginx = true;
                self.gathered.add(Role::Took(Unit::Seconds), 0, text);
            }
            Known::RequestTime => {}
            Known::Duration => self.duration = Some(text),
            Known::Message => self.is_caddy |= text == b"handled request",
            Known::Logger => self.is_caddy |= text.starts_with(b"http.log.access"),
            Known::TotalOfGate => {
                self.gathered.add(Role::Took(Unit::Seconds), 0, text);
                self.gathered.unknown_time_is(Moment::Begin);
            }
        }
    }

    fn entry(mut self) -> Result<Entry, Reason> {
        if let Some(duration) = self.duration.take() {
            if self.is_traefik {
                self.gathered.add(Role::Took(Unit::Nanos), 0, duration);
            } else if self.is_caddy {
                self.gathered.took = Unit::Seconds.span(&duration).or_else(|| in_words(&duration));
            }
        }
        // All three write a line when the response has been sent.
        if self.is_caddy || self.is_traefik || self.is_nginx {
            self.gathered.unknown_time_is(Moment::End);
        }
        self.gathered.entry(LineFormat::Json)
    }
}

/// The name of a member behind those of the objects that it is in.
#[derive(Clone, Copy)]
struct Name<'a> {
    full: &'a str,
    /// How long those are.
    within: usize,
}

impl<'a> Name<'a> {
    /// What it means, or, in an object that is there to hold the fields of a request together, what its last part means.
    fn known(self) -> Option<(&'a str, Known)> {
        let (within, last) = self.full.split_at_checked(self.within)?;
        let of_others = ["header", "resp", "upstream", "tls", "server", "origin"];
        let alone = || match known(last)? {
            _ if within.is_empty() || of_others.iter().any(|other| within.contains(other)) => None,
            Known::Role(Role::ContentType, _) => None,
            Known::Role(role, rank) => Some((last, Known::Role(role, rank + 10))),
            other => Some((last, other)),
        };
        known(self.full).map(|meant| (self.full, meant)).or_else(alone)
    }
}

/// A duration as Go writes it, of one unit: `1.5ms`.
fn in_words(text: &[u8]) -> Option<units::Span> {
    let unit_at = text.iter().position(|byte| !byte.is_ascii_digit() && *byte != b'.')?;
    let (number, unit) = text.split_at_checked(unit_at)?;
    let unit = match unit {
        b"s" => Unit::Seconds,
        b"ms" => Unit::Millis,
        b"us" | b"\xc2\xb5s" | b"\xce\xbcs" => Unit::Micros,
        b"ns" => Unit::Nanos,
        _ => return None,
    };
    unit.span(number)
}

/// The members of an object, as they are written.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;

        impl<'de> Visitor<'de> for InOrder {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::with_capacity(16);
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(InOrder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::entry::Asked;

    #[test]
    fn bytes_that_are_no_text_are_kept() {
        let line = b"{\"msec\":\"1700000000.5\",\"request\":\"GET /caf\xe9?\\u00e9 HTTP/1.1\"}";
        assert_eq!(read(line).unwrap().asked, Asked::Line(b"GET /caf\xe9?\xc3\xa9 HTTP/1.1".to_vec()));
    }

    #[test]
    fn escapes_of_a_log_that_are_no_json_are_undone() {
        let line = br#"{"msec":1700000000.5,"request":"GET /\x22q\xC3\xA9 HTTP/1.1","agent":"\"x\""}"#;
        assert_eq!(read(line).unwrap().asked, Asked::Line(b"GET /\"q\xc3\xa9 HTTP/1.1".to_vec()));
    }

    #[test]
    fn fields_may_be_in_an_object_of_their_own() {
        let line = br#"{"time":"2023-11-14T22:13:20.5Z","nginx":{"method":"GET","path":"/a","host":"a.example"},"response":{"path":"/b"},"resp_headers":{"Content-Type":["text/html"]}}"#;
        let entry = read(line).unwrap();
        assert_eq!(entry.asked, Asked::Parts { method: b"GET".to_vec(), target: b"/a".to_vec() });
        assert_eq!((entry.host.as_deref(), entry.content_type), (Some(&b"a.example"[..]), None));
    }

    #[test]
    fn what_is_no_object_or_has_no_request_is_refused() {
        assert_eq!(read(br#"{"msec":1700000000.5,"request":"GET /pr"#), Err(Reason::NotJson));
        assert_eq!(read(br#"{"level":"info","ts":1700000000.5,"msg":"serving"}"#), Err(Reason::NoFields));
        assert_eq!(read(br#"{"request":"GET / HTTP/1.1"}"#), Err(Reason::NoTime));
    }

    #[test]
    fn durations_of_go_are_read() {
        let nanos = |text: &str| in_words(text.as_bytes()).map(units::Span::as_nanos);
        assert_eq!(nanos("1.5ms"), Some(1_500_000));
        assert_eq!(
            (nanos("2s"), nanos("30\u{b5}s"), nanos("7ns")),
            (Some(2_000_000_000), Some(30_000), Some(7))
        );
        assert_eq!((nanos("1m30s"), nanos("5")), (None, None));
    }
}
