//! What a client has sent, as far as it is there.

use std::mem::MaybeUninit;

use http::request::Parts;
use http::{HeaderName, HeaderValue, Method, Request, Uri, Version};
use http1::fields::Field;
use http1::request::Head;

/// Longer heads are decided about by what is there.
pub(super) const MAX_HEAD: usize = 16 * 1024;
const MAX_FIELDS: usize = 128;

/// What a connection, or the next request on it, begins with.
#[derive(Debug)]
pub(super) enum First {
    /// A request.
    Request(Box<Parts>),
    /// Something that is not read here: TLS, or HTTP/2.
    Opaque,
    /// Nothing: the client has gone.
    Gone,
}

/// What it is; nothing where more has to come. What is wrong with a request the server says; here it is one like others.
pub(super) fn known(bytes: &[u8]) -> Option<First> {
    const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    const HANDSHAKE: u8 = 0x16;
    let begins = &bytes[..bytes.len().min(PREFACE.len())];
    let is_preface = bytes.len() >= 4 && PREFACE.starts_with(begins);
    if is_preface || bytes.first() == Some(&HANDSHAKE) {
        return Some(First::Opaque);
    }
    let mut room = [MaybeUninit::uninit(); MAX_FIELDS];
    match Head::parse(bytes, &mut room) {
        Ok(Some(head)) => Some(First::Request(parts(&head).map_or_else(|| cut(b""), Box::new))),
        Ok(None) if bytes.len() < MAX_HEAD => None,
        Ok(None) | Err(_) => Some(First::Request(cut(bytes))),
    }
}

/// What is there of a head that is not whole; of one that cannot be read nothing is known but that it is one.
pub(super) fn cut(bytes: &[u8]) -> Box<Parts> {
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let bytes = [&bytes[..whole], b"\r\n"].concat();
    let mut room = [MaybeUninit::uninit(); MAX_FIELDS];
    let head = Head::parse(&bytes, &mut room).ok().flatten();
    Box::new(head.and_then(|head| parts(&head)).unwrap_or_else(|| Request::new(()).into_parts().0))
}

fn parts(head: &Head<'_, '_>) -> Option<Parts> {
    let mut request = Request::new(());
    *request.method_mut() = Method::from_bytes(head.method.as_bytes()).ok()?;
    *request.uri_mut() = head.target.parse::<Uri>().ok()?;
    *request.version_mut() = if head.is_modern { Version::HTTP_11 } else { Version::HTTP_10 };
    for Field { name, value } in head.fields {
        let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
        request.headers_mut().append(name, HeaderValue::from_bytes(value).ok()?);
    }
    Some(request.into_parts().0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_connection_begins_with_is_known_from_its_first_bytes() {
        let is = |bytes: &[u8]| match known(bytes) {
            Some(First::Request(parts)) => parts.uri.to_string(),
            Some(First::Opaque) => "opaque".to_owned(),
            Some(First::Gone) => "gone".to_owned(),
            None => "more".to_owned(),
        };
        assert_eq!(is(b"GET /a?b HTTP/1.1\r\nHost: x\r\n\r\n"), "/a?b");
        assert_eq!(is(b"GET /a HTTP/1.1\r\nHost: x\r\n"), "more");
        assert_eq!(is(b"\x16\x03\x01\x02\x00\x01"), "opaque");
        assert_eq!(is(b"PRI * HTTP/2.0\r\n"), "opaque");
        assert_eq!(is(b"P"), "more");
        // There is no way around the gate.
        assert_eq!(is(b"GET /?q=< HTTP/1.1\r\nHost: x\r\n\r\n"), "/");
        assert_eq!(is(b"\0\0\0\0\r\n\r\n"), "/");
        assert_eq!(is(&[b"GET /long HTTP/1.1\r\nX: ".as_slice(), &[b'a'; MAX_HEAD]].concat()), "/long");
    }
}
