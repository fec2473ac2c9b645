//! What a proxy changes in a message that it passes on (RFC 9110 section 7.6).

use std::net::IpAddr;

use http::header::{
    CONNECTION, EXPECT, HOST, HeaderName, PROXY_AUTHORIZATION, TE, TRANSFER_ENCODING, UPGRADE, VIA,
};
use http::request::Parts;
use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderValue, Uri, Version};

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const X_FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
const X_FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");
const KEEP_ALIVE: HeaderName = HeaderName::from_static("keep-alive");
const PROXY_CONNECTION: HeaderName = HeaderName::from_static("proxy-connection");

/// Makes the head of a client's request one to the upstream at `authority`.
pub(crate) fn request(head: &mut Parts, client: IpAddr, authority: &HeaderValue) {
    // The target's authority, if it has one, is the host asked for, whatever Host says
    // (RFC 9112 section 3.2.2); HTTP/1.0 has no Host at all.
    if let Some(target) = head.uri.authority() {
        if let Ok(host) = HeaderValue::from_str(target.as_str()) {
            head.headers.insert(HOST, host);
        }
        head.uri = origin_form(&head.uri);
    }
    remove_hop_by_hop(&mut head.headers);
    // The gate has asked for the body itself: see `upstream::Body`.
    head.headers.remove(EXPECT);
    head.headers.remove(PROXY_AUTHORIZATION);
    let via = if head.version == Version::HTTP_10 { "1.0 headworks" } else { "1.1 headworks" };
    head.headers.append(VIA, HeaderValue::from_static(via));
    append_address(&mut head.headers, client);
    head.headers.insert(X_FORWARDED_PROTO, HeaderValue::from_static("http"));
    let host = head.headers.entry(HOST).or_insert_with(|| authority.clone()).clone();
    head.headers.insert(X_FORWARDED_HOST, host);
    head.version = Version::HTTP_11;
}

/// Makes the headers of the upstream's response those of ours.
pub(crate) fn response(headers: &mut HeaderMap) {
    remove_hop_by_hop(headers);
}

/// Whether the client asks to speak something else, which the gate does not relay.
pub(crate) fn wants_websocket(headers: &HeaderMap) -> bool {
    headers.get(UPGRADE).is_some_and(|protocol| protocol.as_bytes().eq_ignore_ascii_case(b"websocket"))
}

fn origin_form(uri: &Uri) -> Uri {
    let path = uri.path_and_query().cloned().unwrap_or_else(|| PathAndQuery::from_static("/"));
    Uri::from(path)
}

fn remove_hop_by_hop(headers: &mut HeaderMap) {
    // Most messages have none of these, and none at all listed in Connection.
    if headers.contains_key(CONNECTION) {
        let listed: Vec<HeaderName> = headers
            .get_all(CONNECTION)
            .iter()
            .flat_map(|line| line.as_bytes().split(|byte| *byte == b','))
            .filter_map(|name| HeaderName::from_bytes(name.trim_ascii()).ok())
            .collect();
        for name in listed {
            headers.remove(name);
        }
        headers.remove(CONNECTION);
    }
    for name in [KEEP_ALIVE, PROXY_CONNECTION, TE, TRANSFER_ENCODING, UPGRADE] {
        headers.remove(name);
    }
}

fn append_address(headers: &mut HeaderMap, client: IpAddr) {
    let mut list = match headers.get(X_FORWARDED_FOR) {
        Some(before) => [before.as_bytes(), b", "].concat(),
        None => Vec::with_capacity(16),
    };
    // Writing to a Vec cannot fail.
    let _ = std::io::Write::write_fmt(&mut list, format_args!("{}", client.to_canonical()));
    if let Ok(list) = HeaderValue::from_maybe_shared(bytes::Bytes::from(list)) {
        headers.insert(X_FORWARDED_FOR, list);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::Request;

    fn forwarded(request: Request<()>) -> Parts {
        let (mut head, ()) = request.into_parts();
        super::request(&mut head, [192, 0, 2, 7].into(), &HeaderValue::from_static("upstream:80"));
        head
    }

    #[test]
    fn headers_for_this_hop_stay_here() {
        let head = forwarded(
            Request::get("/")
                .header("connection", "x-private, close")
                .header("x-private", "1")
                .header("keep-alive", "1")
                .header("te", "trailers")
                .header("upgrade", "h2c")
                .header("expect", "100-continue")
                .header("accept", "*/*")
                .header("host", "shop")
                .body(())
                .unwrap(),
        );
        let mut names: Vec<_> = head.headers.keys().map(HeaderName::as_str).collect();
        names.sort_unstable();
        let expected = ["accept", "host", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto"];
        assert_eq!(names, expected);
        assert_eq!(head.headers["x-forwarded-for"], "192.0.2.7");
        assert_eq!(head.headers["x-forwarded-host"], "shop");
    }

    #[test]
    fn the_target_says_the_host() {
        let request = Request::get("http://real.example/a?b").header("host", "other").body(()).unwrap();
        let head = forwarded(request);
        assert_eq!(
            (head.uri.to_string().as_str(), &head.headers["host"]),
            ("/a?b", &"real.example".parse().unwrap())
        );
        let old = forwarded(Request::get("/").version(Version::HTTP_10).body(()).unwrap());
        assert_eq!(
            (&old.headers["host"], &old.headers["via"]),
            (&"upstream:80".parse().unwrap(), &"1.0 headworks".parse().unwrap())
        );
    }

    #[test]
    fn earlier_proxies_are_kept() {
        let request = Request::get("/").header("x-forwarded-for", "10.0.0.1").header("via", "1.1 edge");
        let head = forwarded(request.body(()).unwrap());
        assert_eq!(head.headers["x-forwarded-for"], "10.0.0.1, 192.0.2.7");
        assert_eq!(head.headers.get_all("via").iter().count(), 2);
    }
}
