//! Whether a cache that several clients share may keep a response (RFC 9111).

use http::header::{AUTHORIZATION, CACHE_CONTROL, DATE, EXPIRES, SET_COOKIE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};

/// Fields for caches of one kind that go before `Cache-Control` there (RFC 9213).
const TARGETED: [HeaderName; 2] =
    [HeaderName::from_static("cdn-cache-control"), HeaderName::from_static("surrogate-control")];

/// What matters of a request for whether its response may be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// With GET or HEAD.
    Openly,
    /// The same with `Authorization` (RFC 9111 section 3.5).
    WithAuthorization,
    /// With another method, which caches pass on.
    Otherwise,
}

impl Asked {
    /// What a request is in this respect.
    pub fn of(method: &Method, headers: &HeaderMap) -> Self {
        match *method {
            Method::GET | Method::HEAD if headers.contains_key(AUTHORIZATION) => Self::WithAuthorization,
            Method::GET | Method::HEAD => Self::Openly,
            _ => Self::Otherwise,
        }
    }
}

/// Directives of `Cache-Control`, as far as they matter to a shared cache.
#[derive(Debug, Default)]
struct Directives {
    /// `no-store` or `private`, with fields or without.
    not_shared: bool,
    public: bool,
    must_revalidate: bool,
    s_maxage: Option<u64>,
    max_age: Option<u64>,
}

/// Whether the server means a shared cache to keep a response (RFC 9111 section 3): it says so, or gives it
/// a time in which it is fresh. One that says nothing, which caches keep by guessing (section 4.2.2), is not
/// meant, and can be made one client's own; nor is one with cookies. What a 304 says becomes part of a
/// response that may be kept already (section 3.2).
pub fn is_shared(asked: Asked, status: StatusCode, headers: &HeaderMap) -> bool {
    if status == StatusCode::NOT_MODIFIED {
        return true;
    }
    if asked == Asked::Otherwise || status.is_informational() || headers.contains_key(SET_COOKIE) {
        return false;
    }
    if !headers.keys().any(speaks_of_caches) {
        return false;
    }
    let targeted = TARGETED.into_iter().find(|name| headers.contains_key(name));
    let directives = Directives::read(headers, &targeted.unwrap_or(CACHE_CONTROL));
    if directives.not_shared {
        return false;
    }
    let open = directives.public || directives.s_maxage.is_some() || directives.must_revalidate;
    if asked == Asked::WithAuthorization && !open {
        return false;
    }
    // Section 4.2.1: in this order.
    let fresh = directives.s_maxage.or(directives.max_age).or_else(|| expires_after(headers));
    directives.public || fresh.is_some_and(|seconds| seconds > 0)
}

/// Makes a response one client's own: a cookie does not keep a cache from storing it (RFC 9111 section 7.3), and
/// a cache in front of the gate would give all clients one session.
pub fn keep_from_shared_caches(headers: &mut HeaderMap) {
    let private = HeaderValue::from_static("private");
    if !headers.keys().any(speaks_of_caches) {
        headers.append(CACHE_CONTROL, private);
        return;
    }
    for name in TARGETED {
        if headers.contains_key(&name) && !Directives::read(headers, &name).not_shared {
            headers.append(name, private.clone());
        }
    }
    if !Directives::read(headers, &CACHE_CONTROL).not_shared {
        headers.append(CACHE_CONTROL, private);
    }
}

/// Whether a field may say something about caches: most responses have none, and to look for each of them in turn
/// costs more than to look at all that are there.
fn speaks_of_caches(name: &HeaderName) -> bool {
    *name == CACHE_CONTROL || *name == EXPIRES || TARGETED.contains(name)
}

impl Directives {
    fn read(headers: &HeaderMap, name: &HeaderName) -> Self {
        let mut found = Self::default();
        let lines = headers.get_all(name).iter();
        for directive in lines.flat_map(|line| line.as_bytes().split(|byte| *byte == b',')) {
            let mut parts = directive.splitn(2, |byte| *byte == b'=');
            let name = parts.next().unwrap_or_default().trim_ascii().to_ascii_lowercase();
            let mut seconds = || {
                let value = parts.next().unwrap_or_default().trim_ascii();
                let value =
                    value.strip_prefix(b"\"").and_then(|value| value.strip_suffix(b"\"")).unwrap_or(value);
                std::str::from_utf8(value).ok()?.parse().ok()
            };
            match &name[..] {
                // `private="field"` lets a cache keep the rest, but not what the field says: a cookie that
                // is added would be among what it keeps.
                b"private" | b"no-store" => found.not_shared = true,
                b"public" => found.public = true,
                b"must-revalidate" => found.must_revalidate = true,
                b"s-maxage" => found.s_maxage = seconds(),
                b"max-age" => found.max_age = seconds(),
                _ => {}
            }
        }
        found
    }
}

/// Seconds from `Date` to `Expires`; 0 for one that is past or no date (section 5.3).
fn expires_after(headers: &HeaderMap) -> Option<u64> {
    let expires = headers.get(EXPIRES)?;
    let at = |value: &HeaderValue| httpdate::parse_http_date(value.to_str().ok()?).ok();
    let Some(expires) = at(expires) else { return Some(0) };
    // Without a date there is nothing to compare with: an old one does not become fresh by that.
    let date = headers.get(DATE).and_then(at)?;
    Some(expires.duration_since(date).map_or(0, |fresh| fresh.as_secs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(lines: &[(&str, &str)]) -> HeaderMap {
        let field =
            |(name, value): &(&str, &str)| (name.parse::<HeaderName>().unwrap(), value.parse().unwrap());
        let mut headers = HeaderMap::new();
        lines.iter().map(field).for_each(|(name, value): (_, HeaderValue)| {
            headers.append(name, value);
        });
        headers
    }

    #[test]
    fn what_is_meant_for_all_is_told_from_the_rest() {
        let (date, later) = ("Thu, 01 Jan 2026 00:00:00 GMT", "Thu, 01 Jan 2026 00:01:00 GMT");
        for (lines, expected) in [
            (&[][..], false),
            (&[("cache-control", "public")], true),
            (&[("cache-control", "Public, max-age=0")], true),
            (&[("cache-control", "max-age=60")], true),
            (&[("cache-control", "no-transform"), ("cache-control", "max-age=\"60\"")], true),
            (&[("cache-control", "max-age=0")], false),
            (&[("cache-control", "max-age=0, s-maxage=60")], true),
            (&[("cache-control", "max-age=60, s-maxage=0")], false),
            (&[("cache-control", "private, max-age=60")], false),
            (&[("cache-control", "public, private=\"x-name\"")], false),
            (&[("cache-control", "no-store, public")], false),
            (&[("cache-control", "no-cache")], false),
            (&[("cache-control", "max-age=60"), ("set-cookie", "a=b")], false),
            (&[("date", date), ("expires", later)], true),
            (&[("date", later), ("expires", date)], false),
            (&[("date", date), ("expires", "0")], false),
            (&[("date", date), ("expires", later), ("cache-control", "max-age=0")], false),
            (&[("cdn-cache-control", "max-age=60"), ("cache-control", "no-store")], true),
        ] {
            assert_eq!(is_shared(Asked::Openly, StatusCode::OK, &headers(lines)), expected, "{lines:?}");
        }
        assert!(is_shared(Asked::Openly, StatusCode::NOT_MODIFIED, &HeaderMap::new()));
        let fresh = headers(&[("cache-control", "max-age=60")]);
        assert!(!is_shared(Asked::WithAuthorization, StatusCode::OK, &fresh));
        assert!(!is_shared(Asked::Otherwise, StatusCode::OK, &fresh));
        let public = headers(&[("cache-control", "public, max-age=60")]);
        assert!(is_shared(Asked::WithAuthorization, StatusCode::OK, &public));
    }

    #[test]
    fn one_clients_own_says_so_once() {
        for (before, after) in [
            (&[][..], &["private"][..]),
            (&[("cache-control", "max-age=5")], &["max-age=5", "private"]),
            (&[("cache-control", "no-store")], &["no-store"]),
            (&[("cache-control", "PRIVATE")], &["PRIVATE"]),
        ] {
            let mut headers = headers(before);
            keep_from_shared_caches(&mut headers);
            assert_eq!(headers.get_all(CACHE_CONTROL).iter().collect::<Vec<_>>(), after);
        }
    }
}
