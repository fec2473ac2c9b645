//! [`Fields`]: the header fields of requests, decided once and written as each version of HTTP wants them.

use bytes::Bytes;
use http::uri::{Authority, Parts, PathAndQuery, Scheme};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Uri, header};

use crate::client::cookies::Jar;
use crate::settings::options;
use crate::settings::target::Target;

/// Fields that are of one connection, which HTTP/2 does not have (RFC 9113, section 8.2.2).
const OF_A_CONNECTION: [&str; 5] =
    ["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"];

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
        if let Some(body) = &request.body {
            usual.push(("Content-Length", body.len().to_string()));
        }
        let usual: Vec<_> = usual.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Self::written(overridden(&usual, &request.headers))
    }

    /// These, with `fields` added, or in place of those with their names.
    pub(crate) fn with(&self, fields: &[(String, String)]) -> Self {
        Self::written(overridden(&self.given, fields))
    }

    fn written(given: Vec<(String, String)>) -> Self {
        let is = |name: &str, other: &str| name.eq_ignore_ascii_case(other);
        let is_cookie = |(name, _): &&(String, String)| is(name, "cookie");
        let cookies: Vec<&str> = given.iter().filter(is_cookie).map(|(_, value)| value.as_str()).collect();
        let cookies = cookies.join("; ");
        let others = || given.iter().filter(|field| !is_cookie(field));
        let lines: String = others().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let host = given.iter().find(|(name, _)| is(name, "host"));
        let authority = host.and_then(|(_, value)| value.parse().ok());
        let headers = others()
            .filter(|(name, _)| !is(name, "host") && !OF_A_CONNECTION.iter().any(|other| is(name, other)))
            .filter_map(|(name, value)| {
                Some((name.parse::<HeaderName>().ok()?, HeaderValue::try_from(value).ok()?))
            })
            .collect();
        Self { lines: lines.into_bytes(), headers, authority, cookies, given }
    }

    /// The head of a request for HTTP/1: `line` is the request line, `connection` the field that
    /// says what becomes of the connection.
    pub(crate) fn http1_head(&self, line: &[u8], connection: &[u8], jar: &Jar) -> Bytes {
        let mut head = Vec::with_capacity(512);
        head.extend_from_slice(line);
        head.extend_from_slice(&self.lines);
        head.extend_from_slice(connection);
        jar.write_header(&self.cookies, &mut head);
        head.extend_from_slice(b"\r\n");
        head.into()
    }

    /// The head of a request for HTTP/2; `None` where HTTP/2 cannot say it.
    pub(crate) fn http2_head(
        &self,
        method: &Method,
        scheme: &Scheme,
        path: Option<&PathAndQuery>,
        jar: &Jar,
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
        let cookies = jar.value(&self.cookies);
        if !cookies.is_empty() {
            request.headers_mut().insert(header::COOKIE, cookies.try_into().ok()?);
        }
        Some(request)
    }
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
        let head = fields.http1_head(b"GET / HTTP/1.1\r\n", b"", jar);
        let head = String::from_utf8(head.to_vec()).unwrap();
        let (_, lines) = head.trim_end().split_once("\r\n").unwrap();
        let mut first: Vec<String> = lines
            .lines()
            .map(|line| line.split_once(": ").unwrap())
            .map(|(name, value)| format!("{}: {value}", name.to_ascii_lowercase()))
            .collect();
        let path = PathAndQuery::from_static("/");
        let request = fields.http2_head(&Method::GET, &Scheme::HTTP, Some(&path), jar).unwrap();
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
        cookies.iter().for_each(|cookie| jar.set(cookie));
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
