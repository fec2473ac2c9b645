//! The request of an access log, made fit to be sent again.

use std::borrow::Cow;
use std::net::Ipv6Addr;

use super::entry::Asked;
use super::skipped::Reason;
use crate::url;

/// What is asked for.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) method: Vec<u8>,
    /// `None` where it is not a path, as with `OPTIONS *` and `CONNECT`.
    pub(super) target: Option<Target>,
}

/// Path and query, and the host of a URL in absolute form.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) url: String,
    pub(super) host: Option<String>,
}

/// Reads a request as a log has it.
pub(super) fn request(asked: &Asked) -> Result<Request, Reason> {
    let (method, target) = match asked {
        Asked::Line(line) => {
            // Apache and nginx write "-" or nothing for a connection that was closed, or timed out, before it sent
            // anything.
            if matches!(line.as_slice(), b"" | b"-") {
                return Err(Reason::Empty);
            }
            let space = line.iter().position(|byte| *byte == b' ').ok_or(Reason::BadRequest)?;
            let (method, rest) = line.split_at(space);
            (method, Cow::Owned(target_of(rest.trim_ascii(), method)?.to_vec()))
        }
        Asked::Parts { method, .. } if matches!(method.as_slice(), b"" | b"-") => return Err(Reason::Empty),
        Asked::Parts { method, target } => (method.as_slice(), Cow::Borrowed(target.trim_ascii())),
    };
    if method.is_empty() || !method.iter().all(|byte| byte.is_ascii_uppercase() || *byte == b'-') {
        return Err(Reason::BadRequest);
    }
    let target = origin_form(&target);
    // Of what can be replayed in any case it has to be known.
    if target.is_none() && matches!(method, b"GET" | b"HEAD") {
        return Err(Reason::BadRequest);
    }
    Ok(Request { method: method.to_vec(), target })
}

/// What is between the method and the version. Without a version it is a request of HTTP/0.9, or,
/// where there are blanks in it, the beginning of a request that never came to its end.
fn target_of<'a>(rest: &'a [u8], method: &[u8]) -> Result<&'a [u8], Reason> {
    match rest.iter().rposition(|byte| *byte == b' ') {
        None => Ok(rest),
        Some(space) => match rest.split_at(space) {
            (target, version) if version.starts_with(b" HTTP/") => Ok(target.trim_ascii_end()),
            // What is not replayed is counted as it is.
            _ if !matches!(method, b"GET" | b"HEAD") => Ok(b"*"),
            _ => Err(Reason::BadRequest),
        },
    }
}

/// A target in origin form or in absolute form (RFC 9112, 3.2). Bytes that a target must not contain, and that some
/// client sent nevertheless, are percent-encoded.
fn origin_form(target: &[u8]) -> Option<Target> {
    if target.starts_with(b"/") {
        return Some(Target { url: url::target(target).to_string(), host: None });
    }
    let scheme = target.windows(3).position(|three| three == b"://")?;
    let (scheme, authority_and_path) = (target.get(..scheme)?, target.get(scheme + 3..)?);
    if !scheme.eq_ignore_ascii_case(b"http") && !scheme.eq_ignore_ascii_case(b"https") {
        return None;
    }
    let path = authority_and_path.iter().position(|byte| matches!(byte, b'/' | b'?'));
    let (authority, path) = authority_and_path.split_at(path.unwrap_or(authority_and_path.len()));
    let url = match path.first() {
        None => "/".to_owned(),
        Some(b'?') => format!("/{}", url::target(path)),
        Some(_) => url::target(path).to_string(),
    };
    Some(Target { url, host: host(authority) })
}

/// What `Host` says, from a host with its port or without; `None` for what cannot be one, such as nginx's `_`. The ports
/// of HTTP and HTTPS are left out, as browsers leave them out.
pub(super) fn host(text: &[u8]) -> Option<String> {
    let text = str::from_utf8(text).ok()?;
    let host = text.strip_suffix(":80").or_else(|| text.strip_suffix(":443")).unwrap_or(text);
    let (name, port) = match host.strip_prefix('[').and_then(|inside| inside.split_once(']')) {
        Some((address, port)) => (address.parse::<Ipv6Addr>().is_ok().then_some(address)?, port),
        None => {
            let (name, port) = host.split_at(host.find(':').unwrap_or(host.len()));
            let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
            (name.bytes().all(is_of_name).then_some(name)?, port)
        }
    };
    let is_port = port.is_empty() || port.strip_prefix(':').is_some_and(|port| port.parse::<u16>().is_ok());
    (is_port && name.bytes().any(|byte| byte.is_ascii_alphanumeric())).then(|| host.to_owned())
}

/// Undoes what Apache (`\"`, `\\`, `\n`, `\xhh`) and nginx (`\xHH`, `\u00HH`) do to bytes that would break a line of the
/// log.
pub(super) fn unescaped(logged: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(logged.len());
    let mut rest = logged;
    while let Some((&byte, after)) = rest.split_first() {
        let (byte, after) = match (byte, after) {
            (b'\\', [b'x', high, low, after @ ..]) if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                (hex(*high) << 4 | hex(*low), after)
            }
            (b'\\', [b'u', b'0', b'0', high, low, after @ ..])
                if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() =>
            {
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

    fn line(logged: &str) -> Result<Request, Reason> {
        request(&Asked::Line(unescaped(logged.as_bytes())))
    }

    #[test]
    fn request_lines_become_what_can_be_sent() {
        for (logged, url, host) in [
            ("GET / HTTP/1.1", "/", None),
            ("GET /a?b=c&d[]=%20 HTTP/1.0", "/a?b=c&d[]=%20", None),
            ("GET /old", "/old", None),
            ("GET /two words HTTP/1.1", "/two%20words", None),
            ("GET /#part|<x> HTTP/1.1", "/%23part%7C%3Cx%3E", None),
            (r#"GET /say\"hi\"\\ HTTP/1.1"#, "/say%22hi%22%5C", None),
            (r"GET /\xC3\xa9\x00\u0001 HTTP/1.1", "/%C3%A9%00%01", None),
            ("GET /caf\u{e9} HTTP/2.0", "/caf%C3%A9", None),
            (r"GET /a\xzz HTTP/1.1", "/a%5Cxzz", None),
            ("GET http://example.org/a/b?c HTTP/1.1", "/a/b?c", Some("example.org")),
            ("GET HTTPS://example.org:8443 HTTP/1.1", "/", Some("example.org:8443")),
            ("GET https://example.org:443?q HTTP/1.1", "/?q", Some("example.org")),
            ("GET http://[::1]:80/x HTTP/1.1", "/x", Some("[::1]")),
        ] {
            let target = Some(Target { url: url.to_owned(), host: host.map(str::to_owned) });
            assert_eq!(line(logged), Ok(Request { method: b"GET".to_vec(), target }), "{logged}");
        }
    }

    #[test]
    fn what_has_no_path_is_a_request_all_the_same() {
        for other in [
            "OPTIONS * HTTP/1.1",
            "CONNECT example.org:443 HTTP/1.1",
            "PRI * HTTP/2.0",
            "M-SEARCH * HTTP/1.1",
            "POST / HT",
        ] {
            assert_eq!(line(other).map(|request| request.target), Ok(None), "{other}");
        }
        let post = line("POST /form HTTP/1.1").unwrap();
        assert_eq!(post.target.map(|target| target.url).as_deref(), Some("/form"));
    }

    #[test]
    fn the_rest_has_a_reason() {
        for empty in ["", "-"] {
            assert_eq!(line(empty), Err(Reason::Empty));
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
            assert_eq!(line(bad), Err(Reason::BadRequest), "{bad}");
        }
        let parts = |method: &str| Asked::Parts { method: method.into(), target: b"/".to_vec() };
        assert_eq!(request(&parts("-")), Err(Reason::Empty));
        assert_eq!(request(&parts("get")), Err(Reason::BadRequest));
    }

    #[test]
    fn hosts_are_what_a_client_would_send() {
        let of = |text: &str| host(text.as_bytes());
        assert_eq!(of("www.example.org:80").as_deref(), Some("www.example.org"));
        assert_eq!(of("www.example.org:8080").as_deref(), Some("www.example.org:8080"));
        assert_eq!(of("[2001:db8::1]:443").as_deref(), Some("[2001:db8::1]"));
        for none in ["", "_", "-", "a b", "a/b", "a\r\nb", "*.example.org", "user@example.org", "a:b:c"] {
            assert_eq!(of(none), None, "{none}");
        }
    }
}
