//! [`Fields`]: the header fields of requests, decided once and written as each version of HTTP wants them.

use bytes::Bytes;
use http::uri::{Authority, Parts, PathAndQuery, Scheme};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Uri, header};
use units::Time;

use crate::client::cookies::{Jar, Site};
use crate::settings::options;
use crate::settings::target::Target;

/// Fields that are of one connection, which HTTP/2 does not have (RFC 9113, section 8.2.2).
const OF_A_CONNECTION: [&str; 5] =
    ["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"];

/// Fields of a request that are about its body.
pub(crate) const OF_A_BODY: [&str; 4] =
    ["Content-Length", "Content-Type", "Content-Encoding", "Content-Language"];

/// What the requests of a class have besides what they ask for.
#[derive(Debug, Clone)]
pub(crate) struct Fields {
    given: Vec<(String, String)>,
    /// For HTTP/1, without cookies.
    lines: Vec<u8>,
    /// For HTTP/2, without cookies.
    headers: HeaderMap,
    /// What `Host` says, for HTTP/2; `None` where it cannot be one.
    authority: Option<Authority>,
    /// The cookies that the user gave as a field.
    cookies: String,
    /// Which cookies of servers belong to the requests.
    site: Site,
    is_tls: bool,
}

impl Fields {
    /// The fields of every request; what the user gave takes the place of the usual.
    pub(crate) fn of(request: &options::Request, target: &Target) -> Self {
        let agent = concat!("headworks/", env!("CARGO_PKG_VERSION"));
        let mut usual = vec![
            ("Host", target.authority()),
            ("User-Agent", agent.to_owned()),
            ("Accept", "*/*".to_owned()),
        ];
        if let Some(credentials) = target.basic_credentials() {
            usual.push(("Authorization", credentials));
        }
        let method = request.method().parse().unwrap_or(Method::GET);
        let length = length_field(&method, request.body.as_ref());
        let usual = usual.into_iter().map(|(name, value)| (name.to_owned(), value));
        let usual: Vec<_> = usual.chain(length).collect();
        Self::written(overridden(&usual, &request.headers), target.is_tls())
    }

    /// These, with `fields` added, or in place of those with their names.
    pub(crate) fn with(&self, fields: &[(String, String)]) -> Self {
        Self::written(overridden(&self.given, fields), self.is_tls)
    }

    /// These, without those called one of `names`.
    pub(crate) fn without(&self, names: &[&str]) -> Self {
        let is_left = |name: &str| !names.iter().any(|other| name.eq_ignore_ascii_case(other));
        Self::written(self.given.iter().filter(|(name, _)| is_left(name)).cloned().collect(), self.is_tls)
    }

    fn written(given: Vec<(String, String)>, is_tls: bool) -> Self {
        let is = |name: &str, other: &str| name.eq_ignore_ascii_case(other);
        let is_cookie = |(name, _): &&(String, String)| is(name, "cookie");
        let cookies: Vec<&str> = given.iter().filter(is_cookie).map(|(_, value)| value.as_str()).collect();
        let cookies = cookies.join("; ");
        let others = || given.iter().filter(|field| !is_cookie(field));
        let lines: String = others().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let host = given.iter().find(|(name, _)| is(name, "host"));
        let site = Site::new(host.map_or("", |(_, value)| value), is_tls);
        let authority = host.and_then(|(_, value)| value.parse().ok());
        let headers = others()
            .filter(|(name, _)| is_of_http2(name))
            .filter_map(|(name, value)| {
                Some((name.parse::<HeaderName>().ok()?, HeaderValue::try_from(value).ok()?))
            })
            .collect();
        Self { lines: lines.into_bytes(), headers, authority, cookies, given, site, is_tls }
    }

    /// What `Host` says.
    pub(crate) fn authority(&self) -> Option<&str> {
        self.authority.as_ref().map(Authority::as_str)
    }

    /// What `Cookie` says in a request for `url` that is sent `now`; empty where there are none.
    pub(crate) fn cookies(&self, jar: &Jar, url: &str, now: Time) -> String {
        jar.value(&self.cookies, &self.site, url, now)
    }

    /// Keeps a cookie that came `now` with the answer to a request for `url`.
    pub(crate) fn keep_cookie(&self, jar: &mut Jar, header: &str, url: &str, now: Time) {
        jar.set(header, &self.site, url, now);
    }

    /// The head of a request for HTTP/1: `line` is the request line, `connection` the field that
    /// says what becomes of the connection, `cookies` what `Cookie` says; `more` are further fields.
    pub(crate) fn http1_head(
        &self,
        line: &[u8],
        connection: &[u8],
        cookies: &str,
        more: &[(String, String)],
    ) -> Bytes {
        let mut head = Vec::with_capacity(512);
        head.extend_from_slice(line);
        head.extend_from_slice(&self.lines);
        for (name, value) in more {
            for part in [name, ": ", value, "\r\n"] {
                head.extend_from_slice(part.as_bytes());
            }
        }
        head.extend_from_slice(connection);
        if !cookies.is_empty() {
            head.extend_from_slice(b"Cookie: ");
            head.extend_from_slice(cookies.as_bytes());
            head.extend_from_slice(b"\r\n");
        }
        head.extend_from_slice(b"\r\n");
        head.into()
    }

    /// The head of a request for HTTP/2; `None` where HTTP/2 cannot say it.
    pub(crate) fn http2_head(
        &self,
        method: &Method,
        scheme: &Scheme,
        path: Option<&PathAndQuery>,
        cookies: &str,
        more: &[(String, String)],
    ) -> Option<Request<()>> {
        let mut uri = Parts::default();
        uri.scheme = Some(scheme.clone());
        uri.authority = Some(self.authority.clone()?);
        uri.path_and_query = Some(path?.clone());
        let mut request = Request::new(());
        *request.version_mut() = http::Version::HTTP_2;
        *request.method_mut() = method.clone();
        *request.uri_mut() = Uri::from_parts(uri).ok()?;
        request.headers_mut().clone_from(&self.headers);
        for (name, value) in more.iter().filter(|(name, _)| is_of_http2(name)) {
            request.headers_mut().append(name.parse::<HeaderName>().ok()?, value.try_into().ok()?);
        }
        if !cookies.is_empty() {
            request.headers_mut().insert(header::COOKIE, cookies.try_into().ok()?);
        }
        Some(request)
    }
}

/// How long the body is, where that has to be said. Without it servers wait for one, or answer 411 (RFC 9110, section
/// 8.6).
pub(crate) fn length_field(method: &Method, body: Option<&Bytes>) -> Option<(String, String)> {
    let may_have = [Method::POST, Method::PUT, Method::PATCH].contains(method);
    let length = body.map(Bytes::len).or(may_have.then_some(0))?;
    Some(("Content-Length".to_owned(), length.to_string()))
}

/// Whether a field is sent as one in HTTP/2.
fn is_of_http2(name: &str) -> bool {
    !["host"].iter().chain(&OF_A_CONNECTION).any(|other| name.eq_ignore_ascii_case(other))
}

/// `fields` without those that `given` has, too, and `given`.
fn overridden(fields: &[(String, String)], given: &[(String, String)]) -> Vec<(String, String)> {
    let is_given = |name: &str| given.iter().any(|(other, _)| other.eq_ignore_ascii_case(name));
    fields.iter().filter(|(name, _)| !is_given(name)).chain(given).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The fields that a server sees, in order of their names, over each version of HTTP.
    fn seen(fields: &Fields, jar: &Jar) -> [Vec<String>; 2] {
        let cookies = fields.cookies(jar, "/", Time::ZERO);
        let head = fields.http1_head(b"GET / HTTP/1.1\r\n", b"", &cookies, &[]);
        let head = String::from_utf8(head.to_vec()).unwrap();
        let (_, lines) = head.trim_end().split_once("\r\n").unwrap();
        let mut first: Vec<String> = lines
            .lines()
            .map(|line| line.split_once(": ").unwrap())
            .map(|(name, value)| format!("{}: {value}", name.to_ascii_lowercase()))
            .collect();
        let path = PathAndQuery::from_static("/");
        let request = fields.http2_head(&Method::GET, &Scheme::HTTP, Some(&path), &cookies, &[]).unwrap();
        let mut second: Vec<String> = request
            .headers()
            .iter()
            .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()))
            .chain([format!("host: {}", request.uri().authority().unwrap())])
            .collect();
        first.sort();
        second.sort();
        [first, second]
    }

    #[track_caller]
    fn check(request: &[(&str, &str)], class: &[(&str, &str)], cookies: &[&str], expected: &[&str]) {
        let owned = |fields: &[(&str, &str)]| -> Vec<(String, String)> {
            fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        let request = options::Request { headers: owned(request), ..options::Request::default() };
        let fields = Fields::of(&request, &"http://localhost:81/".parse().unwrap()).with(&owned(class));
        let mut jar = Jar::default();
        cookies.iter().for_each(|cookie| fields.keep_cookie(&mut jar, cookie, "/", Time::ZERO));
        for seen in seen(&fields, &jar) {
            let seen: Vec<_> = seen.iter().filter(|line| !line.starts_with("accept: ")).collect();
            assert_eq!(seen, expected);
        }
    }

    #[test]
    fn both_versions_of_http_send_the_fields_that_the_user_gave() {
        let agent = concat!("user-agent: headworks/", env!("CARGO_PKG_VERSION"));
        check(&[], &[], &[], &["host: localhost:81", agent]);
        check(&[("Host", "foo.example")], &[], &[], &["host: foo.example", agent]);
        check(&[("x-a", "1"), ("X-A", "2")], &[], &[], &["host: localhost:81", agent, "x-a: 1", "x-a: 2"]);
        let class = [("Host", "b.example"), ("user-agent", "Mine/1")];
        check(&[("host", "a.example")], &class, &[], &["host: b.example", "user-agent: Mine/1"]);
        let cookies = ["cookie: c=1; sid=42; t=p", "host: localhost:81", agent];
        check(&[("Cookie", "c=1")], &[], &["sid=42; Path=/", "t=p"], &cookies);
        check(&[("Cookie", "c=1")], &[], &[], &["cookie: c=1", "host: localhost:81", agent]);
    }

    #[test]
    fn a_request_that_may_have_a_body_says_how_long_it_is() {
        let length = |method: &str, body: Option<&'static str>| {
            let body = body.map(|body| Bytes::from_static(body.as_bytes()));
            let request =
                options::Request { method: Some(method.to_owned()), body, ..options::Request::default() };
            let fields = Fields::of(&request, &"http://localhost/".parse().unwrap());
            let seen = seen(&fields, &Jar::default());
            seen.map(|fields| fields.into_iter().find(|field| field.starts_with("content-length: ")))
        };
        let same = |text: &str| [Some(text.to_owned()), Some(text.to_owned())];
        assert_eq!(length("POST", None), same("content-length: 0"));
        assert_eq!(length("PUT", Some("abc")), same("content-length: 3"));
        assert_eq!(length("GET", None), [None, None]);
    }

    #[test]
    fn fields_of_a_connection_are_not_sent_over_http2() {
        let request = options::Request {
            headers: vec![("Connection".to_owned(), "close".to_owned())],
            ..options::Request::default()
        };
        let fields = Fields::of(&request, &"http://localhost/".parse().unwrap());
        let [first, second] = seen(&fields, &Jar::default());
        assert!(first.contains(&"connection: close".to_owned()), "{first:?}");
        assert!(!second.iter().any(|line| line.starts_with("connection")), "{second:?}");
    }
}
