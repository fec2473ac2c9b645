//! What a proxy changes in a message that it passes on (RFC 9110 section 7.6).

use http::header::{
    AUTHORIZATION, CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, COOKIE, EXPECT, FORWARDED,
    HOST, HeaderName, MAX_FORWARDS, PROXY_AUTHORIZATION, SET_COOKIE, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
    VIA,
};
use http::request::Parts;
use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderValue, Method, Uri, Version};

use crate::fields::lists;

const KEEP_ALIVE: HeaderName = HeaderName::from_static("keep-alive");
const PROXY_CONNECTION: HeaderName = HeaderName::from_static("proxy-connection");

/// Whether a request goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forwarded {
    /// It does.
    On,
    /// It has come as far as its client wants it to (RFC 9110 section 7.6.2).
    FarEnough,
    /// It has been here so often that it goes round in a circle (section 7.6).
    Round,
}

/// A gate may stand in front of another.
const MAX_PASSES: usize = 4;

/// What this proxy is called in `Via`.
const PSEUDONYM: &[u8] = b" headworks";

/// Whether a request may be passed on.
pub fn may_forward(head: &Parts) -> Forwarded {
    let vias = head.headers.get_all(VIA).iter();
    let passes = vias.filter(|via| via.as_bytes().ends_with(PSEUDONYM)).count();
    if passes >= MAX_PASSES {
        return Forwarded::Round;
    }
    let counts = head.method == Method::TRACE || head.method == Method::OPTIONS;
    if counts && hops_left(&head.headers) == Some(0) { Forwarded::FarEnough } else { Forwarded::On }
}

/// What `Max-Forwards` says; nothing where it is not a number.
fn hops_left(headers: &HeaderMap) -> Option<u64> {
    headers.get(MAX_FORWARDS)?.to_str().ok()?.trim().parse().ok()
}

/// Whether the client says that it sends no request after this one on its connection (RFC 9112 section 9.3).
pub fn is_last(head: &Parts) -> bool {
    let says = |option| head.headers.get_all(CONNECTION).iter().any(|line| lists(line.as_bytes(), option));
    match head.version {
        Version::HTTP_11 => says("close"),
        Version::HTTP_10 => !says("keep-alive"),
        _ => false,
    }
}

/// Makes the head of a client's request one to the upstream at `authority`.
pub fn request(head: &mut Parts, authority: &HeaderValue) {
    /// Fields that a proxy adds: `Via`, three that say for whom, and the trace. Room for them is made once; one by one
    /// they would be three times too many for what a short request has.
    const ADDED: usize = 5;
    head.headers.reserve(ADDED);
    // The target's authority, if it has one, is the host asked for, whatever Host says
    // (RFC 9112 section 3.2.2); HTTP/1.0 has no Host at all.
    if let Some(target) = head.uri.authority() {
        if let Ok(host) = HeaderValue::from_str(target.as_str()) {
            head.headers.insert(HOST, host);
        }
        head.uri = origin_form(&head.uri);
    }
    if head.headers.keys().any(is_for_the_gate) {
        let trailers = takes_trailers(&head.headers);
        let has_content = head.headers.contains_key(TRANSFER_ENCODING)
            || head
                .headers
                .get(CONTENT_LENGTH)
                .map_or(head.version == Version::HTTP_2, |length| length != "0");
        remove_hop_by_hop(&mut head.headers);
        if trailers {
            // The gate passes them on, so it says so itself (RFC 9110 section 10.1.4).
            head.headers.insert(TE, HeaderValue::from_static("trailers"));
            head.headers.insert(CONNECTION, HeaderValue::from_static("te"));
        }
        // HTTP/1.0 knows no such thing, nor does a request without a body (RFC 9110 section 10.1.1).
        if head.version == Version::HTTP_10 || !has_content {
            head.headers.remove(EXPECT);
        }
        head.headers.remove(PROXY_AUTHORIZATION);
    }
    if (head.method == Method::TRACE || head.method == Method::OPTIONS)
        && let Some(left) = hops_left(&head.headers)
    {
        head.headers.insert(MAX_FORWARDS, HeaderValue::from(left.saturating_sub(1)));
    }
    let via = match head.version {
        Version::HTTP_10 => "1.0 headworks",
        Version::HTTP_2 => "2.0 headworks",
        _ => "1.1 headworks",
    };
    head.headers.append(VIA, HeaderValue::from_static(via));
    head.headers.entry(HOST).or_insert_with(|| authority.clone());
    if head.version == Version::HTTP_2 {
        join_cookies(&mut head.headers);
    }
    head.version = Version::HTTP_11;
}

/// Makes the headers of the upstream's response those of ours.
pub fn response(headers: &mut HeaderMap) {
    if !headers.keys().any(is_hop_by_hop) {
        return;
    }
    remove_hop_by_hop(headers);
}

/// Makes trailers, of either direction, ones that are passed on: a server that merges them into the
/// header, as some do, must not be told by them what the gate has not seen or has taken out.
pub fn trailers(fields: &mut HeaderMap) {
    let no_trailer =
        |name: &HeaderName| NO_TRAILERS.contains(name) || name.as_str().starts_with("x-forwarded-");
    if fields.keys().any(no_trailer) {
        let names: Vec<HeaderName> = fields.keys().filter(|name| no_trailer(name)).cloned().collect();
        for name in names {
            fields.remove(name);
        }
    }
}

/// What decides how a message is read, who sends it, or where it goes (RFC 9110 section 6.5.1).
const NO_TRAILERS: [HeaderName; 19] = [
    CONNECTION,
    KEEP_ALIVE,
    PROXY_CONNECTION,
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
    CONTENT_LENGTH,
    CONTENT_TYPE,
    CONTENT_ENCODING,
    HOST,
    EXPECT,
    AUTHORIZATION,
    PROXY_AUTHORIZATION,
    COOKIE,
    SET_COOKIE,
    VIA,
    FORWARDED,
    HeaderName::from_static("headworks-class"),
];

fn takes_trailers(headers: &HeaderMap) -> bool {
    headers.get_all(TE).iter().any(|line| lists(line.as_bytes(), "trailers"))
}

fn origin_form(uri: &Uri) -> Uri {
    let path = uri.path_and_query().cloned().unwrap_or_else(|| PathAndQuery::from_static("/"));
    Uri::from(path)
}

/// What is for the next hop only (RFC 9110 section 7.6.1).
const HOP_BY_HOP: [HeaderName; 6] =
    [CONNECTION, KEEP_ALIVE, PROXY_CONNECTION, TE, TRANSFER_ENCODING, UPGRADE];

// Most messages have nothing of either sort. To go through their headers once costs less than to look each
// name up.

/// Whether a proxy takes it out of what it passes on.
pub(crate) fn is_hop_by_hop(name: &HeaderName) -> bool {
    HOP_BY_HOP.contains(name)
}

/// Whether only the gate answers it.
fn is_for_the_gate(name: &HeaderName) -> bool {
    is_hop_by_hop(name) || *name == EXPECT || *name == PROXY_AUTHORIZATION
}

fn remove_hop_by_hop(headers: &mut HeaderMap) {
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
    }
    for name in HOP_BY_HOP {
        headers.remove(name);
    }
}

/// HTTP/2 may split cookies over several lines, which HTTP/1 does not know (RFC 9113 section 8.2.3).
fn join_cookies(headers: &mut HeaderMap) {
    let crumbs: Vec<&[u8]> = headers.get_all(COOKIE).iter().map(HeaderValue::as_bytes).collect();
    if crumbs.len() > 1
        && let Ok(whole) = HeaderValue::from_bytes(&crumbs.join(&b"; "[..]))
    {
        headers.insert(COOKIE, whole);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::Request;

    fn forwarded(request: Request<()>) -> Parts {
        let (mut head, ()) = request.into_parts();
        super::request(&mut head, &HeaderValue::from_static("upstream:80"));
        head
    }

    #[test]
    fn headers_for_this_hop_stay_here() {
        let head = forwarded(
            Request::get("/")
                .header("connection", "x-private, close")
                .header("x-private", "1")
                .header("keep-alive", "1")
                .header("te", "gzip")
                .header("upgrade", "h2c")
                .header("expect", "100-continue")
                .header("accept", "*/*")
                .header("host", "shop")
                .body(())
                .unwrap(),
        );
        let mut names: Vec<_> = head.headers.keys().map(HeaderName::as_str).collect();
        names.sort_unstable();
        assert_eq!(names, ["accept", "host", "via"]);
    }

    #[test]
    fn a_client_says_which_request_is_its_last() {
        let says = |version, lines: &[&str]| {
            let request = lines.iter().fold(Request::get("/").version(version), |request, line| {
                request.header("connection", *line)
            });
            is_last(&request.body(()).unwrap().into_parts().0)
        };
        for (version, lines, last) in [
            (Version::HTTP_11, &["te, Close"][..], true),
            (Version::HTTP_11, &["te", "close"], true),
            (Version::HTTP_11, &["closed"], false),
            (Version::HTTP_11, &[], false),
            (Version::HTTP_10, &[], true),
            (Version::HTTP_10, &["Keep-Alive"], false),
            (Version::HTTP_2, &["close"], false),
        ] {
            assert_eq!(says(version, lines), last, "{version:?} {lines:?}");
        }
    }

    #[test]
    fn hops_are_counted_where_clients_count_them() {
        let asks = |method: Method, left: &str| {
            let request = Request::builder().method(method).uri("/").header("max-forwards", left);
            let (head, ()) = request.body(()).unwrap().into_parts();
            head
        };
        for method in [Method::OPTIONS, Method::TRACE] {
            assert_eq!(may_forward(&asks(method.clone(), "0")), Forwarded::FarEnough);
            let head = forwarded(Request::from_parts(asks(method, "3"), ()));
            assert_eq!(head.headers["max-forwards"], "2");
        }
        assert_eq!(may_forward(&asks(Method::GET, "0")), Forwarded::On);
        assert_eq!(forwarded(Request::from_parts(asks(Method::GET, "3"), ())).headers["max-forwards"], "3");
    }

    #[test]
    fn a_request_does_not_go_round_for_ever() {
        let mut request = Request::get("/").header("via", "1.1 edge").body(()).unwrap();
        let passes = (0..10).take_while(|_| {
            let (head, ()) = std::mem::take(&mut request).into_parts();
            let goes_on = may_forward(&head) == Forwarded::On;
            request = Request::from_parts(forwarded(Request::from_parts(head, ())), ());
            goes_on
        });
        assert_eq!(passes.count(), MAX_PASSES);
    }

    #[test]
    fn what_a_client_expects_the_server_is_asked() {
        let expects = |version, length| {
            let request = Request::put("/").version(version).header("expect", "100-continue");
            forwarded(request.header("content-length", length).body(()).unwrap())
                .headers
                .contains_key("expect")
        };
        assert!(expects(Version::HTTP_11, "1"));
        assert!(!expects(Version::HTTP_11, "0") && !expects(Version::HTTP_10, "1"));
        assert!(expects(Version::HTTP_2, "1") && !expects(Version::HTTP_2, "0"));
    }

    #[test]
    fn cookies_of_http_2_are_joined() {
        let crumbs = Request::get("https://shop/").version(Version::HTTP_2);
        let head = forwarded(crumbs.header("cookie", "a=1").header("cookie", "b=2; c=3").body(()).unwrap());
        assert_eq!(head.headers.get_all("cookie").iter().collect::<Vec<_>>(), ["a=1; b=2; c=3"]);
        assert_eq!(
            (&head.headers["host"], &head.headers["via"]),
            (&"shop".parse().unwrap(), &"2.0 headworks".parse().unwrap())
        );
    }

    #[test]
    fn trailers_are_asked_for_by_the_gate_itself() {
        let head =
            forwarded(Request::get("/").header("te", "gzip, Trailers").header("host", "a").body(()).unwrap());
        assert_eq!(
            (&head.headers["te"], &head.headers["connection"]),
            (&"trailers".parse().unwrap(), &"te".parse().unwrap())
        );
    }

    #[test]
    fn trailers_say_nothing_that_belongs_into_the_head() {
        let mut fields: HeaderMap =
            ["x-sum", "cookie", "x-forwarded-for", "headworks-class", "content-length"]
                .map(|name| (HeaderName::from_static(name), HeaderValue::from_static("1")))
                .into_iter()
                .collect();
        trailers(&mut fields);
        assert_eq!(fields.keys().collect::<Vec<_>>(), ["x-sum"]);
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
        let request = Request::get("/").header("via", "1.1 edge");
        let head = forwarded(request.body(()).unwrap());
        assert_eq!(head.headers.get_all("via").iter().count(), 2);
    }
}
