//! The target of a request as the versions of HTTP write it.

use http::header::{CONNECTION, EXPECT, HOST};
use http::uri::{Authority, PathAndQuery, Scheme};
use http::{HeaderValue, Request, Uri, Version};

use crate::upstream::body::Body;

/// Path and `Host` (RFC 9112 section 3.2.1).
pub(crate) fn for_http1(request: &mut Request<Body>) {
    if let Some(authority) = request.uri().authority() {
        if let Ok(host) = HeaderValue::from_str(authority.as_str()) {
            request.headers_mut().insert(HOST, host);
        }
        let path = request.uri().path_and_query().cloned();
        *request.uri_mut() = path.unwrap_or_else(|| PathAndQuery::from_static("/")).into();
    }
    *request.version_mut() = Version::HTTP_11;
}

/// Scheme, authority and path, and no `Host` (RFC 9113 section 8.3.1). The scheme is that of the
/// connection.
///
/// # Errors
/// The `Host` that is not an authority.
pub(crate) fn for_http2(request: &mut Request<Body>, secure: bool) -> Result<(), String> {
    if request.uri().authority().is_none() {
        let host = request.headers_mut().remove(HOST).unwrap_or_else(|| HeaderValue::from_static(""));
        let wrong = || host.as_bytes().escape_ascii().to_string();
        let mut parts = std::mem::take(request.uri_mut()).into_parts();
        parts.scheme = Some(if secure { Scheme::HTTPS } else { Scheme::HTTP });
        parts.authority = Some(Authority::try_from(host.as_bytes()).map_err(|_| wrong())?);
        *request.uri_mut() = Uri::from_parts(parts).map_err(|_| wrong())?;
    }
    // It has no such thing (RFC 9113 section 8.2.2).
    request.headers_mut().remove(CONNECTION);
    // The gate sends the body at once, and waits for no leave.
    request.headers_mut().remove(EXPECT);
    *request.version_mut() = Version::HTTP_2;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        let mut request = Request::get("/a?b").header(HOST, "shop:81").body(Body::EMPTY).unwrap();
        for_http2(&mut request, false).unwrap();
        assert_eq!(request.uri(), "http://shop:81/a?b");
        assert_eq!(request.headers().get(HOST), None);
        for_http1(&mut request);
        assert_eq!((request.uri(), request.version()), (&Uri::from_static("/a?b"), Version::HTTP_11));
        assert_eq!(request.headers()[HOST], "shop:81");
    }

    #[test]
    fn a_host_that_is_none_is_refused() {
        for host in ["", "a b", "a/b"] {
            let mut request = Request::get("/").header(HOST, host).body(Body::EMPTY).unwrap();
            assert_eq!(for_http2(&mut request, true), Err(host.to_owned()));
        }
    }
}
