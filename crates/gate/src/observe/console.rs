//! [`Console`]: the page on which operators see what the gate does.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, REFERRER_POLICY, VARY};
use http::request::Parts;
use http::{HeaderName, HeaderValue, Response};
use sha2::{Digest as _, Sha256};

/// The console's page: one file that holds its style and its script.
#[derive(Debug, Clone)]
pub struct Console {
    page: Bytes,
    compressed: Bytes,
    /// What the page may do: run its own script, and nothing that came from elsewhere.
    allowed: HeaderValue,
}

impl Console {
    /// From the page, and the same compressed with gzip.
    pub fn new(page: &'static str, compressed: &'static [u8]) -> Self {
        let hashes = |element: &str| {
            let found = contents(page, element)
                .map(|text| format!(" 'sha256-{}'", STANDARD.encode(Sha256::digest(text))));
            found.collect::<String>()
        };
        let allowed = format!(
            "default-src 'none'; script-src{}; style-src{}; connect-src 'self'; img-src data:; font-src data:; \
             frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
             require-trusted-types-for 'script'",
            hashes("script"),
            hashes("style"),
        );
        Self {
            page: Bytes::from_static(page.as_bytes()),
            compressed: Bytes::from_static(compressed),
            // Hashes in base64 are visible ASCII.
            allowed: HeaderValue::try_from(allowed).unwrap_or(HeaderValue::from_static("default-src 'none'")),
        }
    }

    /// The response to a request for it.
    pub(crate) fn answer(&self, head: &Parts) -> Response<Bytes> {
        let takes = head.headers.get_all(ACCEPT_ENCODING).iter().filter_map(|line| line.to_str().ok());
        let is_compressed = takes.flat_map(|line| line.split(',')).any(is_gzip);
        let body = if is_compressed { &self.compressed } else { &self.page };
        let mut answer = Response::new(body.clone());
        let headers = answer.headers_mut();
        if is_compressed {
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
        headers.insert(CONTENT_SECURITY_POLICY, self.allowed.clone());
        headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
        headers.insert(
            HeaderName::from_static("cross-origin-opener-policy"),
            HeaderValue::from_static("same-origin"),
        );
        answer
    }
}

/// Whether a coding of `Accept-Encoding` is gzip, and acceptable (RFC 9110 section 12.5.3).
fn is_gzip(coding: &str) -> bool {
    let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
    let weight: String = weight.chars().filter(|c| !c.is_ascii_whitespace()).collect();
    let is_refused =
        weight.strip_prefix("q=").and_then(|weight| weight.parse().ok()).is_some_and(|q: f32| q <= 0.0);
    name.trim().eq_ignore_ascii_case("gzip") && !is_refused
}

/// What stands between the tags of each such element that has something in it.
fn contents<'p>(page: &'p str, element: &'p str) -> impl Iterator<Item = &'p str> {
    let (open, close) = (format!("<{element}"), format!("</{element}>"));
    let mut rest = page;
    std::iter::from_fn(move || {
        loop {
            let (_, after) = rest.split_once(&open)?;
            let (attributes, after) = after.split_once('>')?;
            let (text, after) = after.split_once(&close)?;
            rest = after;
            if attributes.is_empty() || attributes.starts_with(char::is_whitespace) {
                return Some(text);
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_in_the_page_is_allowed_and_nothing_else() {
        let page = "<head><style>a{}</style><script type=\"module\">let a = 1;</script><scripted>x</scripted></head><style media=x>b{}</style>";
        assert_eq!(contents(page, "style").collect::<Vec<_>>(), ["a{}", "b{}"]);
        assert_eq!(contents(page, "script").collect::<Vec<_>>(), ["let a = 1;"]);
        let console = Console::new(page, b"");
        let allowed = console.allowed.to_str().unwrap();
        assert_eq!(allowed.matches("'sha256-").count(), 3);
        assert!(!allowed.contains("unsafe"), "{allowed}");
    }

    #[test]
    fn it_is_compressed_for_who_can_read_that() {
        for (coding, compressed) in [
            ("gzip", true),
            (" GZIP;q=0.5", true),
            ("gzip;q=0", false),
            ("gzip; q=0.0", false),
            ("br", false),
            ("x-gzip2", false),
        ] {
            assert_eq!(is_gzip(coding), compressed, "{coding}");
        }
    }
}
