//! Requests that came over HTTP/2: their bytes are framed, and hyper refuses what RFC 9113 section
//! 8.2 calls malformed. What is left to look at is what they mean as HTTP/1, on the way to a server.

use http::header::{CONTENT_LENGTH, EXPECT, HOST, TRANSFER_ENCODING};
use http::request::Parts;
use http::{HeaderMap, Method, Version};

use super::breach::Breach;
use super::head::{is_host, length, path};
use super::names;

/// What is wrong with a request of HTTP/2, if it is one.
pub(super) fn breach(head: &Parts) -> Option<Breach> {
    if head.version != Version::HTTP_2 {
        return None;
    }
    let host = match head.uri.authority() {
        Some(authority) => Some(authority.as_str().as_bytes()),
        None => head.headers.get(HOST).map(http::HeaderValue::as_bytes),
    };
    if !host.is_none_or(is_host) {
        return Some(Breach::Host);
    }
    let target = head.uri.path_and_query().map_or("/", |target| target.as_str());
    let asterisk = head.method == Method::OPTIONS && target == "*";
    if head.method != Method::CONNECT && !asterisk && path(target.as_bytes()).is_err() {
        return Some(Breach::Target);
    }
    fields(&head.headers)
}

fn fields(headers: &HeaderMap) -> Option<Breach> {
    let mut names = headers.keys().map(http::HeaderName::as_str);
    if names.any(|name| name.contains('_') && names::is_alias(name.as_bytes())) {
        return Some(Breach::Alias);
    }
    // Only the first is held against the frames.
    let mut lengths = headers.get_all(CONTENT_LENGTH).iter();
    if lengths.next().is_some_and(|first| length(first.as_bytes()).is_err()) || lengths.next().is_some() {
        return Some(Breach::Length);
    }
    if headers.contains_key(TRANSFER_ENCODING) {
        return Some(Breach::Coding);
    }
    let expects =
        headers.get(EXPECT).is_some_and(|what| !what.as_bytes().eq_ignore_ascii_case(b"100-continue"));
    expects.then_some(Breach::Expectation)
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    #[track_caller]
    fn check(uri: &str, headers: &[(&str, &str)], expected: Option<Breach>) {
        let builder = Request::builder().version(Version::HTTP_2).uri(uri);
        let request = headers.iter().fold(builder, |builder, (name, value)| builder.header(*name, *value));
        let (head, ()) = request.body(()).unwrap().into_parts();
        assert_eq!(breach(&head), expected, "{uri} {headers:?}");
    }

    #[test]
    fn what_would_mean_something_else_to_a_server_is_refused() {
        check("https://shop.example:8443/a?b", &[("content-length", "5"), ("my_header", "1")], None);
        check("http://user@shop/", &[], Some(Breach::Host));
        check("/", &[("host", "a,b")], Some(Breach::Host));
        check("http://shop/a\\b", &[], Some(Breach::Target));
        check("http://shop/\u{e9}", &[], Some(Breach::Target));
        check("http://shop/", &[("x_forwarded_for", "10.0.0.1")], Some(Breach::Alias));
        check("http://shop/", &[("content-length", "5"), ("content-length", "5")], Some(Breach::Length));
        check("http://shop/", &[("content-length", "+5")], Some(Breach::Length));
        check("http://shop/", &[("transfer-encoding", "chunked")], Some(Breach::Coding));
        check("http://shop/", &[("expect", "much")], Some(Breach::Expectation));
        let (head, ()) = Request::get("http://user@shop/").body(()).unwrap().into_parts();
        assert_eq!(breach(&head), None, "HTTP/1 has been looked at before");
    }
}
