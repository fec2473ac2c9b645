//! Upgrades of HTTP/1.1: what a client asks for, and whether a server agrees (RFC 9110 section 7.8).

use http::header::{CONNECTION, UPGRADE};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, Version};
use http1::fields::lists;

/// The protocol that a request asks for, if it is one protocol.
pub(crate) fn asked(head: &Parts) -> Option<&HeaderValue> {
    // Most requests have none.
    let protocol = sole(&head.headers, &UPGRADE)?;
    (head.version == Version::HTTP_11 && connection_upgrades(&head.headers)).then_some(protocol)
}

/// Whether the server goes over to the protocol that was asked for.
pub(crate) fn begins<B>(response: &Response<B>, protocol: &HeaderValue) -> bool {
    response.status() == StatusCode::SWITCHING_PROTOCOLS
        && connection_upgrades(response.headers())
        && sole(response.headers(), &UPGRADE)
            .is_some_and(|given| given.as_bytes().eq_ignore_ascii_case(protocol.as_bytes()))
}

fn sole<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a HeaderValue> {
    let mut values = headers.get_all(name).iter();
    let first = values.next()?;
    values.next().is_none().then_some(first)
}

fn connection_upgrades(headers: &HeaderMap) -> bool {
    headers.get_all(CONNECTION).iter().any(|line| lists(line.as_bytes(), "upgrade"))
}
