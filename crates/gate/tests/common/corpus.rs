//! The requests of `tests/corpus`: what smugglers send, and what must not be taken for it.
//!
//! A file has comment lines, `expect` with a verdict for each request in it (`pass` or the status
//! of the refusal), perhaps the `body` that the server gets of the first, an empty line, and the
//! bytes: ends of lines count only where they are written `\r\n`, and `{x*100}` is a hundred times
//! `x`. The first request asks for the file's name.

#![allow(dead_code, reason = "each test file uses its own part")]

use std::fs;
use std::path::Path;

/// One file.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) expect: Vec<Verdict>,
    /// What the server gets as the first request's body.
    pub(crate) body: Vec<u8>,
    pub(crate) bytes: Vec<u8>,
}

/// What becomes of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Pass,
    Refused(u16),
}

impl Case {
    /// The requests that the server sees: method and path.
    pub(crate) fn seen(&self) -> Vec<String> {
        let first = self.bytes.trim_ascii_start();
        let method = String::from_utf8_lossy(first.split(|byte| *byte == b' ').next().unwrap_or_default());
        let passed = self.expect.iter().filter(|verdict| **verdict == Verdict::Pass);
        passed.map(|_| format!("{method} /{}", self.name)).collect()
    }
}

/// All files, by name.
pub(crate) fn all() -> Vec<Case> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut cases: Vec<Case> = fs::read_dir(directory)
        .expect("the corpus is there")
        .map(|entry| read(&entry.expect("a directory that can be read").path()))
        .collect();
    cases.sort_by(|one, other| one.name.cmp(&other.name));
    cases
}

fn read(file: &Path) -> Case {
    let text = fs::read_to_string(file).expect("a file of text");
    let (head, bytes) = text.split_once("\n\n").unwrap_or_else(|| panic!("{file:?} has no empty line"));
    let field = |name| head.lines().find_map(|line| line.strip_prefix(name));
    let expect = field("expect ").unwrap_or_else(|| panic!("{file:?} expects nothing"));
    Case {
        name: file.file_stem().and_then(|stem| stem.to_str()).expect("a name of text").to_owned(),
        expect: expect.split(' ').map(verdict).collect(),
        body: field("body ").map(unescape).unwrap_or_default(),
        bytes: bytes.lines().flat_map(unescape).collect(),
    }
}

fn verdict(word: &str) -> Verdict {
    match word {
        "pass" => Verdict::Pass,
        status => Verdict::Refused(status.parse().unwrap_or_else(|_| panic!("{status:?} is no verdict"))),
    }
}

fn unescape(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        rest = &rest[first.len_utf8()..];
        match first {
            '\\' => {
                let (byte, length) = escape(rest);
                bytes.push(byte);
                rest = &rest[length..];
            }
            '{' => {
                let end = rest.find('}').expect("a repetition that ends");
                let (what, times) = rest[..end].rsplit_once('*').expect("a repetition with a number");
                bytes.extend(unescape(what).repeat(times.parse().expect("a number")));
                rest = &rest[end + 1..];
            }
            other => bytes.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    bytes
}

fn escape(text: &str) -> (u8, usize) {
    match text.as_bytes() {
        [b'r', ..] => (b'\r', 1),
        [b'n', ..] => (b'\n', 1),
        [b't', ..] => (b'\t', 1),
        [b'\\', ..] => (b'\\', 1),
        [b'x', ..] => (u8::from_str_radix(&text[1..3], 16).expect("two hexadecimal digits"), 3),
        _ => panic!("\\{text} means nothing"),
    }
}
