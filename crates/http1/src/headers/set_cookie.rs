//! The `Set-Cookie` header as a client reads it (RFC 6265 section 5.2): [`SetCookie`].

/// What a server has a client keep, or forget. Of the attributes only `Max-Age` is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SetCookie<'a> {
    /// Its name, which is not empty.
    pub name: &'a str,
    /// Its value, with quotes where the server put some.
    pub value: &'a str,
    /// For how many seconds from now it is kept; `None` as long as the session lasts.
    pub max_age: Option<i64>,
}

impl<'a> SetCookie<'a> {
    /// Reads the value of the header; `None` where a client has to ignore it.
    pub fn parse(header: &'a str) -> Option<Self> {
        let mut parts = header.split(';');
        let (name, value) = parts.next()?.split_once('=')?;
        let (name, value) = (name.trim_matches(WHITESPACE), value.trim_matches(WHITESPACE));
        // The last attribute of a name counts (section 5.3, step 3).
        let max_age = parts.rev().find_map(max_age);
        (!name.is_empty()).then_some(Self { name, value, max_age })
    }

    /// Whether the server has the client forget the cookie: with an age of 0, or below.
    pub fn is_removal(&self) -> bool {
        self.max_age.is_some_and(|age| age <= 0)
    }
}

const WHITESPACE: [char; 2] = [' ', '\t'];

/// The age that an attribute says, in seconds (section 5.2.2); ages that do not fit are the nearest that do.
fn max_age(attribute: &str) -> Option<i64> {
    let (name, age) = attribute.split_once('=')?;
    if !name.trim_matches(WHITESPACE).eq_ignore_ascii_case("max-age") {
        return None;
    }
    let age = age.trim_matches(WHITESPACE);
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
            assert_eq!(cookie.is_removal(), expected.is_some_and(|age| age <= 0), "{header}");
        }
    }
}
