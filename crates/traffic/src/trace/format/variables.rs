//! The fields of formats as nginx and Apache write them.

use super::gathered::{Moment, Role, Unit};
use super::template_error::TemplateError;

/// A part of a format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    Literal(String),
    /// A field, what it looks like as a regular expression, and what it means, if anything.
    Field {
        pattern: &'static str,
        role: Option<(Role, u8)>,
    },
}

const ANYTHING: &str = ".*?";
const STATUS: &str = r"\d{3}|-";
const NUMBER: &str = r"\d+|-";
/// nginx writes milliseconds, so that a number that was cut off shows.
const SECONDS: &str = r"\d+\.\d{3}|-";
const REQUEST: &str = r"[A-Z]+ .*? HTTP/\d(?:\.\d)?|.*?";

/// nginx's `log_format`: variables are `$name` or `${name}`.
pub(super) fn nginx(format: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = format;
    while let Some(dollar) = rest.find('$') {
        let (before, after) = (&rest[..dollar], &rest[dollar + 1..]);
        put_literal(&mut pieces, before);
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let (name, after) = match after.strip_prefix('{').and_then(|inside| inside.split_once('}')) {
            Some(braced) => braced,
            None => after.split_at(after.find(|letter| !is_name(letter)).unwrap_or(after.len())),
        };
        pieces.push(variable(name));
        rest = after;
    }
    put_literal(&mut pieces, rest);
    pieces
}

fn put_literal(pieces: &mut Vec<Piece>, text: &str) {
    match pieces.last_mut() {
        _ if text.is_empty() => {}
        Some(Piece::Literal(held)) => held.push_str(text),
        _ => pieces.push(Piece::Literal(text.to_owned())),
    }
}

fn variable(name: &str) -> Piece {
    let (pattern, role, rank) = match name {
        "msec" | "time_local" | "time_iso8601" => (ANYTHING, Role::Time(Moment::End), 0),
        "request_time" => (SECONDS, Role::Took(Unit::Seconds), 0),
        "request" => (REQUEST, Role::Line, 0),
        "request_method" => ("[A-Z]*|-", Role::Method, 0),
        "request_uri" => (ANYTHING, Role::Target, 0),
        "uri" | "document_uri" => (ANYTHING, Role::Path, 0),
        "args" | "query_string" => (ANYTHING, Role::Query, 0),
        "http_host" => (ANYTHING, Role::Host, 0),
        "host" => (ANYTHING, Role::Host, 1),
        "server_name" => (ANYTHING, Role::Host, 2),
        "request_body" => (ANYTHING, Role::Body, 0),
        "content_type" | "http_content_type" => (ANYTHING, Role::ContentType, 0),
        "status" => (STATUS, Role::Status, 0),
        "body_bytes_sent" => (NUMBER, Role::Bytes, 0),
        "bytes_sent" => (NUMBER, Role::Bytes, 1),
        _ => return Piece::Field { pattern: ANYTHING, role: None },
    };
    Piece::Field { pattern, role: Some((role, rank)) }
}

/// Apache's `LogFormat`: `%`, conditions such as `!200,304` or `>`, an argument in braces, and a letter.
pub(super) fn apache(format: &str) -> Result<Vec<Piece>, TemplateError> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut rest = format;
    while let Some(at) = rest.find(['%', '\\']) {
        put_literal(&mut pieces, &rest[..at]);
        let after = &rest[at + 1..];
        let mut letters = after.chars();
        if rest[at..].starts_with('\\') {
            let letter = letters.next().unwrap_or('\\');
            let meant = match letter {
                'n' => '\n',
                't' => '\t',
                other => other,
            };
            put_literal(&mut pieces, &meant.to_string());
            rest = letters.as_str();
            continue;
        }
        if let Some(behind) = after.strip_prefix('%') {
            put_literal(&mut pieces, "%");
            rest = behind;
            continue;
        }
        let behind =
            after.trim_start_matches(|letter: char| letter.is_ascii_digit() || "!,<>".contains(letter));
        let (argument, behind) = match behind.strip_prefix('{').and_then(|inside| inside.split_once('}')) {
            Some((argument, behind)) => (Some(argument), behind),
            None => (None, behind),
        };
        // `%^ti` is a trailer of the request.
        let length =
            if behind.starts_with('^') { 3 } else { behind.chars().next().map_or(0, char::len_utf8) };
        let unknown = || TemplateError::Field(format!("%{}", after.chars().take(12).collect::<String>()));
        let (letter, behind) = behind.split_at_checked(length).ok_or_else(unknown)?;
        let piece = directive(letter, argument).ok_or_else(unknown)?;
        rest = behind;
        if !joins_time(&mut pieces, &piece) {
            pieces.push(piece);
        }
    }
    put_literal(&mut pieces, rest);
    Ok(pieces)
}

/// Parts of a time, as in `%{%T}t.%{usec_frac}t %{%z}t`, are one time with what is between them.
fn joins_time(pieces: &mut Vec<Piece>, next: &Piece) -> bool {
    let is_time =
        |piece: &Piece| matches!(piece, Piece::Field { role: Some((Role::Time(_), _)), pattern: ANYTHING });
    if !is_time(next) {
        return false;
    }
    match pieces.as_slice() {
        [.., before, Piece::Literal(between)]
            if is_time(before) && matches!(between.as_str(), "." | "," | " ") =>
        {
            pieces.pop();
            true
        }
        [.., before] => is_time(before),
        [] => false,
    }
}

fn directive(letter: &str, argument: Option<&str>) -> Option<Piece> {
    let is_header = |name: &str| argument.is_some_and(|argument| argument.eq_ignore_ascii_case(name));
    let (pattern, role, rank) = match letter {
        "t" if argument.is_none() => (r"\[[^\]]*\]", Role::Time(Moment::Begin), 0),
        "t" => {
            let is_end = argument.is_some_and(|argument| argument.starts_with("end:"));
            (ANYTHING, Role::Time(if is_end { Moment::End } else { Moment::Begin }), 0)
        }
        "D" => (NUMBER, Role::Took(Unit::Micros), 0),
        "T" => {
            let unit = match argument {
                Some("ms") => Unit::Millis,
                Some("us") => Unit::Micros,
                _ => Unit::Seconds,
            };
            (NUMBER, Role::Took(unit), 0)
        }
        "r" => (REQUEST, Role::Line, 0),
        "m" => ("[A-Z]*|-", Role::Method, 0),
        "U" => (ANYTHING, Role::Path, 0),
        "q" => (r"(?:\?.*?)?", Role::Query, 0),
        "i" if is_header("host") => (ANYTHING, Role::Host, 0),
        "V" => (ANYTHING, Role::Host, 1),
        "v" => (ANYTHING, Role::Host, 2),
        "p" if argument.is_none() => (NUMBER, Role::Port, 0),
        "i" if is_header("content-type") => (ANYTHING, Role::ContentType, 0),
        "s" => (STATUS, Role::Status, 0),
        "B" | "b" => (NUMBER, Role::Bytes, 0),
        "O" => (NUMBER, Role::Bytes, 1),
        "a" | "A" | "C" | "e" | "f" | "h" | "H" | "i" | "I" | "k" | "l" | "L" | "n" | "o" | "p" | "P"
        | "R" | "S" | "u" | "X" | "^ti" | "^to" | "^FB" => {
            return Some(Piece::Field { pattern: ANYTHING, role: None });
        }
        _ => return None,
    };
    Some(Piece::Field { pattern, role: Some((role, rank)) })
}
