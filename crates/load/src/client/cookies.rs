//! [`Jar`]: the cookies of one user, kept for a session.

use std::fmt::Write;
use std::time::{SystemTime, UNIX_EPOCH};

use http1::headers::set_cookie::SetCookie;
use units::{Span, Time};

/// RFC 6265, section 6.1, asks a browser for 50 per host; more is a server's mistake.
const MAX_COOKIES: usize = 50;
const MAX_COOKIE_BYTES: usize = 4096;

/// Where requests go, as far as cookies are concerned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Site {
    /// The host, as the server is told it, in lower case and without a port.
    host: String,
    /// Whether what goes there cannot be overheard: by TLS, or because it does not leave the machine.
    is_secure: bool,
}

impl Site {
    /// The site that a `Host` field names.
    pub(crate) fn new(authority: &str, is_tls: bool) -> Self {
        let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
        let host =
            authority.rsplit_once(':').filter(|(_, port)| is_port(port)).map_or(authority, |(host, _)| host);
        let host = host.to_ascii_lowercase();
        let is_secure = is_tls || matches!(host.as_str(), "localhost" | "127.0.0.1" | "[::1]");
        Self { host, is_secure }
    }

    /// Whether a cookie for `domain` is for this host as well (RFC 6265, section 5.1.3).
    fn is_in(&self, domain: &str) -> bool {
        let Some(rest) = self.host.strip_suffix(&domain.to_ascii_lowercase()) else { return false };
        let is_address = self.host.starts_with('[') || self.host.parse::<std::net::Ipv4Addr>().is_ok();
        rest.is_empty() || (rest.ends_with('.') && !is_address)
    }
}

/// The cookies of one user at one site (RFC 6265, sections 5.3 and 5.4). Public suffixes (`co.uk`) are
/// not told from other domains, which makes no difference: a user visits one host.
#[derive(Debug, Default)]
pub(crate) struct Jar {
    /// Those with longer paths come first, and then those that were set earlier.
    cookies: Vec<Cookie>,
}

#[derive(Debug, PartialEq, Eq)]
struct Cookie {
    name: String,
    value: String,
    path: String,
    /// As the server said it; one for the host alone is another cookie.
    domain: Option<String>,
    is_secure: bool,
    ends: Time,
}

impl Jar {
    /// A jar with the cookie that users have from the start.
    pub(crate) fn new(first: Option<&(String, String)>) -> Self {
        let cookie = |(name, value): &(String, String)| Cookie {
            name: name.clone(),
            value: value.clone(),
            path: "/".to_owned(),
            domain: None,
            is_secure: false,
            ends: Time::NEVER,
        };
        Self { cookies: first.map(cookie).into_iter().collect() }
    }

    /// Takes the value of a `Set-Cookie` header that came `now` with the answer to a request for `url`.
    pub(crate) fn set(&mut self, header: &str, site: &Site, url: &str, now: Time) {
        let Some(cookie) = SetCookie::parse(header).filter(|_| header.len() <= MAX_COOKIE_BYTES) else {
            return;
        };
        if !may_be_set(&cookie, site) {
            return;
        }
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let lasts = cookie.lasts(i64::try_from(since_1970).unwrap_or(i64::MAX));
        let cookie = Cookie {
            name: cookie.name.to_owned(),
            value: cookie.value.to_owned(),
            path: cookie.path.unwrap_or_else(|| default_path(url)).to_owned(),
            domain: cookie.domain.map(str::to_ascii_lowercase),
            is_secure: cookie.is_secure,
            ends: match lasts {
                None => Time::NEVER,
                // Time in a run is counted in nanoseconds, for 584 years.
                Some(seconds) => match u64::try_from(seconds).unwrap_or(0) {
                    seconds @ 0..=1_000_000_000 => now + Span::from_secs(seconds),
                    _ => Time::NEVER,
                },
            },
        };
        let is_same = |other: &Cookie| {
            (&other.name, &other.path, &other.domain) == (&cookie.name, &cookie.path, &cookie.domain)
        };
        self.cookies.retain(|other| other.ends > now);
        let is_kept = cookie.ends > now;
        match self.cookies.iter().position(is_same) {
            // It keeps its place.
            Some(at) if is_kept => self.cookies[at] = cookie,
            Some(at) => drop(self.cookies.remove(at)),
            None if is_kept && self.cookies.len() < MAX_COOKIES => {
                let after = self.cookies.iter().position(|other| other.path.len() < cookie.path.len());
                self.cookies.insert(after.unwrap_or(self.cookies.len()), cookie);
            }
            None => {}
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.cookies.is_empty()
    }

    /// The value of the `Cookie` header of a request for `url` that is sent `now`. It begins with `given`, and is empty
    /// when there is nothing to say.
    pub(crate) fn value(&self, given: &str, site: &Site, url: &str, now: Time) -> String {
        let mut value = given.to_owned();
        let path = path_of(url);
        for cookie in &self.cookies {
            if cookie.ends > now && (site.is_secure || !cookie.is_secure) && is_below(path, &cookie.path) {
                let between = if value.is_empty() { "" } else { "; " };
                // Writing to memory does not fail.
                let _ = write!(value, "{between}{}={}", cookie.name, cookie.value);
            }
        }
        value
    }
}

/// Whether the site may set such a cookie (RFC 6265, section 5.3, and what its successor asks of names that begin with
/// `__Secure-` and `__Host-`, draft-ietf-httpbis-rfc6265bis, section 5.7).
fn may_be_set(cookie: &SetCookie<'_>, site: &Site) -> bool {
    let begins =
        |with: &str| cookie.name.get(..with.len()).is_some_and(|start| start.eq_ignore_ascii_case(with));
    let is_of_host = cookie.domain.is_none() && cookie.path == Some("/");
    cookie.domain.is_none_or(|domain| site.is_in(domain))
        && (site.is_secure || !cookie.is_secure)
        && (cookie.is_secure || !(begins("__Secure-") || begins("__Host-")))
        && (is_of_host || !begins("__Host-"))
}

/// A URL without its query.
fn path_of(url: &str) -> &str {
    url.split('?').next().unwrap_or(url)
}

/// What a cookie without a path is for: what is beside the page that it came with (RFC 6265, section 5.1.4).
fn default_path(url: &str) -> &str {
    match path_of(url).rsplit_once('/') {
        Some((directory, _)) if directory.starts_with('/') => directory,
        _ => "/",
    }
}

/// RFC 6265, section 5.1.4.
fn is_below(path: &str, of_cookie: &str) -> bool {
    path.strip_prefix(of_cookie)
        .is_some_and(|rest| rest.is_empty() || of_cookie.ends_with('/') || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site() -> Site {
        Site::new("www.example.org:81", false)
    }

    fn at(seconds: u64) -> Time {
        Time::ZERO + Span::from_secs(seconds)
    }

    /// What is returned to `url` after `/a/login` has set cookies at `site`.
    #[track_caller]
    fn check_at(site: &Site, set: &[&str], url: &str, expected: &str) {
        let mut jar = Jar::default();
        set.iter().for_each(|header| jar.set(header, site, "/a/login?x=/1/", at(0)));
        assert_eq!(jar.value("", site, url, at(10)), expected, "{set:?} for {url}");
    }

    #[track_caller]
    fn check(set: &[&str], url: &str, expected: &str) {
        check_at(&site(), set, url, expected);
    }

    #[test]
    fn cookies_are_returned_replaced_and_removed() {
        let mut jar = Jar::new(Some(&("tier".to_owned(), "premium".to_owned())));
        let value = |jar: &Jar| jar.value("", &site(), "/b", at(0));
        jar.set("session=abc; Path=/; HttpOnly", &site(), "/a", at(0));
        assert_eq!(value(&jar), "tier=premium; session=abc");
        jar.set("session=def", &site(), "/a", at(0));
        jar.set("tier=; Max-Age=0", &site(), "/a", at(0));
        assert_eq!(value(&jar), "session=def");
        assert_eq!(jar.value("given=1", &site(), "/b", at(0)), "given=1; session=def");
    }

    #[test]
    fn a_path_says_which_requests_have_the_cookie() {
        check(&["a=1"], "/a/page", "a=1");
        check(&["a=1"], "/a", "a=1");
        check(&["a=1"], "/ab", "");
        check(&["a=1"], "/", "");
        check(&["a=1; Path=/"], "/?q=/a/", "a=1");
        check(&["a=1; Path=/a/"], "/a", "");
        check(&["a=1; Path=/b"], "/b/c?d", "a=1");
        check(&["a=1; Path=b"], "/a/x", "a=1");
        check(&["a=1; Path=/", "b=2; Path=/a", "c=3; Path=/"], "/a/x", "b=2; a=1; c=3");
        check(&["a=1; Path=/", "a=2; Path=/a"], "/a/x", "a=2; a=1");
        check(&["a=1; Path=/", "a=; Path=/a; Max-Age=0"], "/a/x", "a=1");
    }

    #[test]
    fn an_end_is_kept() {
        check(&["a=1", "a=; Expires=Thu, 01 Jan 1970 00:00:00 GMT"], "/a/x", "");
        check(&["a=1; Max-Age=11", "b=2; Max-Age=10", "c=3; Max-Age=-1"], "/a/x", "a=1");
        check(&["a=1; Expires=Fri, 31 Dec 9999 23:59:59 GMT"], "/a/x", "a=1");
        check(&["a=1; Max-Age=9223372036854775807"], "/a/x", "a=1");
        check(&["a=1; Expires=soon"], "/a/x", "a=1");
    }

    #[test]
    fn cookies_of_others_are_not_taken() {
        check(&["a=1; Domain=example.org", "b=2; Domain=.WWW.example.org"], "/a/x", "a=1; b=2");
        check(
            &["a=1; Domain=other.org", "b=2; Domain=xample.org", "c=3; Domain=x.www.example.org"],
            "/a/x",
            "",
        );
        check_at(
            &Site::new("10.0.0.1", false),
            &["a=1; Domain=0.0.1", "b=2; Domain=10.0.0.1"],
            "/a/x",
            "b=2",
        );
    }

    #[test]
    fn secure_cookies_need_a_line_that_cannot_be_overheard() {
        let all = ["a=1; Secure", "__Secure-b=2", "__Host-c=3; Secure; Path=/", "__Host-d=4; Secure"];
        check(&all, "/a/x", "");
        check_at(&Site::new("example.org", true), &all, "/a/x", "a=1; __Host-c=3");
        check_at(&Site::new("localhost:80", false), &all, "/a/x", "a=1; __Host-c=3");
        check_at(&Site::new("[::1]:80", false), &["a=1; Secure"], "/a/x", "a=1");
    }

    #[test]
    fn nonsense_is_ignored_and_the_jar_is_bounded() {
        check(&["", "=", "novalue", "=x"], "/a/x", "");
        let mut jar = Jar::default();
        for number in 0..1000 {
            jar.set(&format!("c{number}={}", "x".repeat(100)), &site(), "/", at(0));
        }
        assert!(jar.value("", &site(), "/", at(0)).len() < 50 * 120);
    }
}
