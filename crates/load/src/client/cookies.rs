//! [`Jar`]: the cookies of one user, kept for a session.

use std::io::Write;

use http1::headers::set_cookie::SetCookie;

/// RFC 6265, section 6.1, asks a browser for 50 per host; more is a server's mistake.
const MAX_COOKIES: usize = 50;
const MAX_COOKIE_BYTES: usize = 4096;

/// Cookies by name. All requests of a session go to one host, so paths and domains are not
/// looked at.
#[derive(Debug, Default)]
pub(crate) struct Jar {
    cookies: Vec<(String, String)>,
}

impl Jar {
    pub(crate) fn new(first: Option<&(String, String)>) -> Self {
        Self { cookies: first.cloned().into_iter().collect() }
    }

    /// Takes the value of a `Set-Cookie` header.
    pub(crate) fn set(&mut self, header: &str) {
        let Some(cookie) = SetCookie::parse(header).filter(|_| header.len() <= MAX_COOKIE_BYTES) else {
            return;
        };
        self.cookies.retain(|(other, _)| other != cookie.name);
        if !cookie.is_removal() && self.cookies.len() < MAX_COOKIES {
            self.cookies.push((cookie.name.to_owned(), cookie.value.to_owned()));
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.cookies.is_empty()
    }

    /// The value of the `Cookie` header, which begins with `given`; empty when there is nothing to say.
    pub(crate) fn value(&self, given: &str) -> String {
        let own = self.cookies.iter().map(|(name, value)| format!("{name}={value}"));
        let given = Some(given.to_owned()).filter(|given| !given.is_empty());
        given.into_iter().chain(own).collect::<Vec<_>>().join("; ")
    }

    /// Appends the `Cookie` header line, which begins with `given`, if there is anything to say.
    pub(crate) fn write_header(&self, given: &str, request: &mut Vec<u8>) {
        let mut before = "Cookie: ";
        if !given.is_empty() {
            request.extend_from_slice(before.as_bytes());
            request.extend_from_slice(given.as_bytes());
            before = "; ";
        }
        for (name, value) in &self.cookies {
            // Writing to memory does not fail.
            let _ = write!(request, "{before}{name}={value}");
            before = "; ";
        }
        if before == "; " {
            request.extend_from_slice(b"\r\n");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(jar: &Jar) -> String {
        let mut bytes = Vec::new();
        jar.write_header("", &mut bytes);
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn cookies_are_returned_replaced_and_removed() {
        let mut jar = Jar::new(Some(&("tier".to_owned(), "premium".to_owned())));
        jar.set("session=abc; Path=/; HttpOnly");
        assert_eq!(header(&jar), "Cookie: tier=premium; session=abc\r\n");
        jar.set("session=def");
        jar.set("tier=; Max-Age=0");
        assert_eq!(header(&jar), "Cookie: session=def\r\n");
    }

    #[test]
    fn nonsense_is_ignored_and_the_jar_is_bounded() {
        let mut jar = Jar::default();
        for nonsense in ["", "=", "novalue", "=x"] {
            jar.set(nonsense);
        }
        assert_eq!(header(&jar), "");
        for number in 0..1000 {
            jar.set(&format!("c{number}={}", "x".repeat(100)));
        }
        assert!(header(&jar).len() < 50 * 120);
    }
}
