//! Requests that came without lines, as HTTP/2 has them: what [`Filter`](super::Filter) asks of
//! bytes, asked of what h2 has read.
//!
//! h2 refuses names in capitals, fields of the connection, lengths that do not fit the body and
//! pseudo-fields that are missing, double or unknown. What is left is what the server behind would get.

use http::header::{CONTENT_LENGTH, EXPECT, HOST, TRANSFER_ENCODING};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method};

use super::breach::Breach;
use super::limits::Limits;
use super::strict::{MAX_METHOD, length};
use super::target::{is_host, path};
use crate::headers::names;

/// Whether a request that came without lines can be read in one way.
///
/// # Errors
/// When it cannot.
pub fn decoded(head: &Parts, limits: &Limits) -> Result<(), Breach> {
    if head.method.as_str().len() > MAX_METHOD {
        return Err(Breach::Method);
    }
    host(head)?;
    target(head, limits)?;
    if head.headers.len() > limits.fields {
        return Err(Breach::Fields);
    }
    for (name, value) in &head.headers {
        if name.as_str().len() + 1 + value.len() > limits.field {
            return Err(Breach::FieldSize);
        }
        if name.as_str().contains('_') && names::is_alias(name.as_str().as_bytes()) {
            return Err(Breach::Alias);
        }
    }
    if head.headers.contains_key(TRANSFER_ENCODING) {
        return Err(Breach::Coding);
    }
    if let Some(number) = only(&head.headers, CONTENT_LENGTH, Breach::Length)? {
        length(number.as_bytes())?;
    }
    match only(&head.headers, EXPECT, Breach::Expectation)? {
        Some(value) if !value.as_bytes().eq_ignore_ascii_case(b"100-continue") => Err(Breach::Expectation),
        _ => Ok(()),
    }
}

/// Of `:authority` and `Host`, one must be there, and both must say the same (RFC 9113 section
/// 8.3.1).
fn host(head: &Parts) -> Result<(), Breach> {
    let authority = head.uri.authority().map(|authority| authority.as_str().as_bytes());
    let field = only(&head.headers, HOST, Breach::Host)?.map(HeaderValue::as_bytes);
    let sound = match (authority, field) {
        (Some(authority), Some(field)) => is_host(authority) && authority.eq_ignore_ascii_case(field),
        (Some(host), None) | (None, Some(host)) => is_host(host),
        (None, None) => false,
    };
    if sound { Ok(()) } else { Err(Breach::Host) }
}

fn target(head: &Parts, limits: &Limits) -> Result<(), Breach> {
    let target = head.uri.path_and_query().map_or("", |target| target.as_str());
    if target.len() > limits.target {
        return Err(Breach::TargetSize);
    }
    match (&head.method, target) {
        // It has none.
        (&Method::CONNECT, _) => Ok(()),
        (&Method::OPTIONS, "*") => Ok(()),
        (_, target) if target.starts_with('/') => path(target.as_bytes()),
        _ => Err(Breach::Target),
    }
}

/// The only line of a field, if there is one.
fn only(headers: &HeaderMap, name: http::HeaderName, breach: Breach) -> Result<Option<&HeaderValue>, Breach> {
    let mut lines = headers.get_all(name).iter();
    let first = lines.next();
    if lines.next().is_some() { Err(breach) } else { Ok(first) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::Request;
    use http::request::Builder;

    #[track_caller]
    fn check(request: Builder, expected: Result<(), Breach>) {
        let (head, ()) = request.body(()).unwrap().into_parts();
        assert_eq!(decoded(&head, &Limits::default()), expected, "{head:?}");
    }

    #[test]
    fn what_could_be_read_in_two_ways_is_refused() {
        let get = || Request::get("https://shop.example/a?b");
        check(get(), Ok(()));
        check(get().header("host", "SHOP.example"), Ok(()));
        check(get().header("host", "other.example"), Err(Breach::Host));
        check(get().header("host", "shop.example").header("host", "shop.example"), Err(Breach::Host));
        check(Request::get("/a").header("host", "shop.example"), Ok(()));
        check(Request::get("/a"), Err(Breach::Host));
        check(Request::get("https://user@shop.example/"), Err(Breach::Host));
        check(Request::get("https://shop.example/a\\b"), Err(Breach::Target));
        check(Request::options("*").header("host", "shop.example"), Ok(()));
        check(Request::get("*").header("host", "shop.example"), Err(Breach::Target));
        check(get().header("x_forwarded_for", "1.1.1.1"), Err(Breach::Alias));
        check(get().header("x_own", "1"), Ok(()));
        check(get().header("content-length", "5"), Ok(()));
        check(get().header("content-length", "+5"), Err(Breach::Length));
        check(get().header("content-length", "5").header("content-length", "5"), Err(Breach::Length));
        check(get().header("transfer-encoding", "chunked"), Err(Breach::Coding));
        check(get().header("expect", "100-Continue"), Ok(()));
        check(get().header("expect", "200-ok"), Err(Breach::Expectation));
        check(get().header("x-long", "x".repeat(17_000)), Err(Breach::FieldSize));
        check((0..101).fold(get(), |get, number| get.header(format!("x-{number}"), "")), Err(Breach::Fields));
        check(Request::get(format!("https://shop.example/{}", "x".repeat(9000))), Err(Breach::TargetSize));
        check(get().method(Method::from_bytes(&[b'X'; 40]).unwrap()), Err(Breach::Method));
    }
}
