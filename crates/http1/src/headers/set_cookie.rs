//! The `Set-Cookie` header as a client reads it (RFC 6265 section 5.2): [`SetCookie`].

use super::cookie_date;

/// What a server has a client keep, or forget. Attributes that concern scripts of a page only, such as
/// `HttpOnly`, are not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SetCookie<'a> {
    /// Its name, which is not empty.
    pub name: &'a str,
    /// Its value, with quotes where the server put some.
    pub value: &'a str,
    /// For how many seconds from now it is kept; `None` where the server does not say so.
    pub max_age: Option<i64>,
    /// When it is no longer kept, in seconds since 1970; `max_age` matters more.
    pub expires: Option<i64>,
    /// The host, without a dot before it, that it is returned to, and to all whose names end so; `None` for the host
    /// alone that sent it.
    pub domain: Option<&'a str>,
    /// Where the paths begin that it is returned to; `None` for those beside the one that it came from.
    pub path: Option<&'a str>,
    /// Whether it is returned over TLS only.
    pub is_secure: bool,
}

impl<'a> SetCookie<'a> {
    /// Reads the value of the header; `None` where a client has to ignore it.
    pub fn parse(header: &'a str) -> Option<Self> {
        let mut parts = header.split(';');
        let (name, value) = parts.next()?.split_once('=')?;
        let (name, value) = (trim(name), trim(value));
        if name.is_empty() {
            return None;
        }
        let mut cookie =
            Self { name, value, max_age: None, expires: None, domain: None, path: None, is_secure: false };
        // The last attribute of a name counts (section 5.3).
        parts.for_each(|attribute| cookie.take(attribute));
        Some(cookie)
    }

    fn take(&mut self, attribute: &'a str) {
        let (name, value) = attribute.split_once('=').unwrap_or((attribute, ""));
        let (name, value) = (trim(name), trim(value));
        let is = |other: &str| name.eq_ignore_ascii_case(other);
        if is("max-age") {
            self.max_age = seconds(value).or(self.max_age);
        } else if is("expires") {
            self.expires = cookie_date::parse(value).or(self.expires);
        } else if is("domain") {
            self.domain = Some(value.strip_prefix('.').unwrap_or(value)).filter(|domain| !domain.is_empty());
        } else if is("path") {
            self.path = Some(value).filter(|path| path.starts_with('/'));
        } else if is("secure") {
            self.is_secure = true;
        }
    }

    /// For how many seconds it is kept, at `now`, in seconds since 1970; not above 0 where the server has the client
    /// forget it, `None` for as long as the session lasts.
    pub fn lasts(&self, now: i64) -> Option<i64> {
        self.max_age.or_else(|| self.expires.map(|at| at.saturating_sub(now)))
    }
}

fn trim(text: &str) -> &str {
    text.trim_matches([' ', '\t'])
}

/// An age in seconds (section 5.2.2); ages that do not fit are the nearest that do.
fn seconds(age: &str) -> Option<i64> {
    let (digits, furthest) = match age.strip_prefix('-') {
        Some(digits) => (digits, i64::MIN),
        None => (age, i64::MAX),
    };
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| age.parse().unwrap_or(furthest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_are_what_is_before_attributes() {
        for (header, expected) in [
            ("a=1", Some(("a", "1"))),
            (" a\t= 1 ; Path=/; HttpOnly", Some(("a", "1"))),
            ("a=b=c", Some(("a", "b=c"))),
            ("a=\"x y\"", Some(("a", "\"x y\""))),
            ("a=", Some(("a", ""))),
            ("", None),
            ("=", None),
            ("=x", None),
            ("a", None),
            ("a; b=1", None),
        ] {
            let read = SetCookie::parse(header).map(|cookie| (cookie.name, cookie.value));
            assert_eq!(read, expected, "{header:?}");
        }
    }

    #[test]
    fn the_last_age_that_is_a_number_counts() {
        for (attributes, expected) in [
            ("", None),
            ("; Max-Age=60", Some(60)),
            (";max-age = -1 ", Some(-1)),
            ("; Max-Age=0; Max-Age=60", Some(60)),
            ("; Max-Age=60; Max-Age=soon", Some(60)),
            ("; Max-Age=+5", None),
            ("; Max-Age=", None),
            ("; Max-Age=-", None),
            ("; Max-Age", None),
            ("; Max-Age=99999999999999999999", Some(i64::MAX)),
            ("; Max-Age=-99999999999999999999", Some(i64::MIN)),
        ] {
            let header = format!("a=1{attributes}");
            let cookie = SetCookie::parse(&header).unwrap();
            assert_eq!(cookie.max_age, expected, "{header}");
            assert_eq!(cookie.lasts(0), expected, "{header}");
        }
    }

    #[test]
    fn where_and_until_when_a_cookie_is_kept_is_read() {
        let read = |attributes: &str| {
            let header = format!("a=1{attributes}");
            let cookie = SetCookie::parse(&header).unwrap();
            let owned = |text: Option<&str>| text.map(str::to_owned);
            (cookie.lasts(1000), owned(cookie.domain), owned(cookie.path), cookie.is_secure)
        };
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(read(""), (None, None, None, false));
        assert_eq!(read("; Expires=Thu, 01 Jan 1970 00:00:00 GMT"), (Some(-1000), None, None, false));
        assert_eq!(
            read("; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=5; Secure"),
            (Some(5), None, None, true)
        );
        assert_eq!(read("; Expires=soon; Path=/a; path=/b"), (None, None, text("/b"), false));
        assert_eq!(read("; Path=a; Domain=.Example.org"), (None, text("Example.org"), None, false));
        assert_eq!(read("; Path=/a; Path; Domain=; SECURE=1"), (None, None, None, true));
    }
}
