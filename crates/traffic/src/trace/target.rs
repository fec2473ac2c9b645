//! The request line of an access log, made fit to be sent again.

use super::request::Method;
use super::skipped::Reason;

/// What a request line says.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum RequestLine {
    /// A request that can be sent again: path and query.
    Replayable(Method, String),
    /// Anything but GET and HEAD: what was sent with it is not in the log.
    OtherMethod,
}

/// Reads what stands between the quotes of `"GET /path HTTP/1.1"`.
pub(super) fn request_line(logged: &[u8]) -> Result<RequestLine, Reason> {
    // Apache and nginx write "-" or nothing for a connection that was closed, or timed out,
    // before it sent anything.
    if matches!(logged, b"" | b"-") {
        return Err(Reason::Empty);
    }
    let line = unescaped(logged);
    let space = line.iter().position(|byte| *byte == b' ').ok_or(Reason::BadRequest)?;
    let (method, rest) = line.split_at(space);
    if method.is_empty() || !method.iter().all(u8::is_ascii_uppercase) {
        return Err(Reason::BadRequest);
    }
    let method = match method {
        b"GET" => Method::Get,
        b"HEAD" => Method::Head,
        _ => return Ok(RequestLine::OtherMethod),
    };
    let target = target(rest.trim_ascii())?;
    let url = origin_form(target).ok_or(Reason::BadRequest)?;
    Ok(RequestLine::Replayable(method, url))
}

/// What is between the method and the version. Without a version it is a request of HTTP/0.9, or,
/// where there are blanks in it, the beginning of a request that never came to its end.
fn target(rest: &[u8]) -> Result<&[u8], Reason> {
    match rest.iter().rposition(|byte| *byte == b' ') {
        None => Ok(rest),
        Some(space) => match rest.split_at(space) {
            (target, version) if version.starts_with(b" HTTP/") => Ok(target.trim_ascii_end()),
            _ => Err(Reason::BadRequest),
        },
    }
}

/// Path and query of a target in origin form or in absolute form (RFC 9112, 3.2). Bytes that a
/// target must not contain, and that some client sent nevertheless, are percent-encoded.
fn origin_form(target: &[u8]) -> Option<String> {
    if target.starts_with(b"/") {
        return Some(encoded(target));
    }
    let scheme = target.windows(3).position(|three| three == b"://")?;
    let (scheme, authority_and_path) = (target.get(..scheme)?, target.get(scheme + 3..)?);
    if !scheme.eq_ignore_ascii_case(b"http") && !scheme.eq_ignore_ascii_case(b"https") {
        return None;
    }
    let path = authority_and_path.iter().position(|byte| matches!(byte, b'/' | b'?'));
    let path = path.and_then(|path| authority_and_path.get(path..)).unwrap_or(b"/");
    Some(if path.starts_with(b"?") { format!("/{}", encoded(path)) } else { encoded(path) })
}

fn encoded(target: &[u8]) -> String {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    let mut url = String::with_capacity(target.len());
    for byte in target {
        match byte {
            b'"' | b'#' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'{' | b'|' | b'}' | 0..=b' ' | 0x7f.. => {
                url.push('%');
                url.extend(
                    [byte >> 4, byte & 15]
                        .iter()
                        .filter_map(|digit| HEX.get(usize::from(*digit)))
                        .map(|hex| char::from(*hex)),
                );
            }
            _ => url.push(char::from(*byte)),
        }
    }
    url
}

/// Undoes what Apache (`\"`, `\\`, `\n`, `\xhh`) and nginx (`\xHH`) do to bytes that would
/// break a line of the log.
fn unescaped(logged: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(logged.len());
    let mut rest = logged;
    while let Some((&byte, after)) = rest.split_first() {
        let (byte, after) = match (byte, after) {
            (b'\\', [b'x', high, low, after @ ..]) if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                (hex(*high) << 4 | hex(*low), after)
            }
            (b'\\', [b'"', after @ ..]) => (b'"', after),
            (b'\\', [b'\\', after @ ..]) => (b'\\', after),
            (b'\\', [b'n', after @ ..]) => (b'\n', after),
            (b'\\', [b'r', after @ ..]) => (b'\r', after),
            (b'\\', [b't', after @ ..]) => (b'\t', after),
            _ => (byte, after),
        };
        plain.push(byte);
        rest = after;
    }
    plain
}

/// The value of a hexadecimal digit.
fn hex(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        _ => (digit | 0x20).wrapping_sub(b'a').wrapping_add(10),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn request_lines_become_what_can_be_sent() {
        for (logged, url) in [
            ("GET / HTTP/1.1", "/"),
            ("GET /a?b=c&d[]=%20 HTTP/1.0", "/a?b=c&d[]=%20"),
            ("GET /old", "/old"),
            ("GET /two words HTTP/1.1", "/two%20words"),
            ("GET /#part|<x> HTTP/1.1", "/%23part%7C%3Cx%3E"),
            (r#"GET /say\"hi\"\\ HTTP/1.1"#, "/say%22hi%22%5C"),
            (r"GET /\xC3\xa9\x00 HTTP/1.1", "/%C3%A9%00"),
            ("GET /caf\u{e9} HTTP/2.0", "/caf%C3%A9"),
            (r"GET /a\xzz HTTP/1.1", "/a%5Cxzz"),
            ("GET http://example.org/a/b?c HTTP/1.1", "/a/b?c"),
            ("GET HTTPS://example.org:8443 HTTP/1.1", "/"),
            ("GET http://example.org?q HTTP/1.1", "/?q"),
            ("GET http://[::1]:80/x HTTP/1.1", "/x"),
        ] {
            let expected = RequestLine::Replayable(Method::Get, url.to_owned());
            assert_eq!(request_line(logged.as_bytes()), Ok(expected), "{logged}");
        }
        assert_eq!(
            request_line(b"HEAD /h HTTP/1.1"),
            Ok(RequestLine::Replayable(Method::Head, "/h".to_owned()))
        );
    }

    #[test]
    fn the_rest_has_a_reason() {
        for other in [
            "POST /form HTTP/1.1",
            "OPTIONS * HTTP/1.1",
            "CONNECT example.org:443 HTTP/1.1",
            "PRI * HTTP/2.0",
        ] {
            assert_eq!(request_line(other.as_bytes()), Ok(RequestLine::OtherMethod), "{other}");
        }
        for empty in ["", "-"] {
            assert_eq!(request_line(empty.as_bytes()), Err(Reason::Empty));
        }
        for bad in [
            r"\x16\x03\x01\x02",
            r"\x16\x03\x01 \x00",
            "GET",
            "GET  HTTP/1.1",
            "GET * HTTP/1.1",
            "GET / HT",
            "GET ftp://example.org/ HTTP/1.1",
            "get / HTTP/1.1",
            " / HTTP/1.1",
        ] {
            assert_eq!(request_line(bad.as_bytes()), Err(Reason::BadRequest), "{bad}");
        }
    }
}
