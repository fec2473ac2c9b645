//! [`Target`]: the URL on the command line, and the address behind it.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::Uri;

/// Where requests go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    tls: bool,
    host: String,
    port: u16,
    path: String,
    /// Name and password, as `name:password`.
    user: Option<String>,
    /// Where connections go, if not to the host of the URL.
    via: Option<Via>,
}

/// Another place than the URL's to connect to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Via {
    /// A host and a port.
    Host(String, u16),
    /// A Unix socket.
    Unix(PathBuf),
}

/// Why load cannot be put on what a text names.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// Not a URL.
    #[error("\"{0}\" is not a valid URL; write it as http://HOST:PORT/PATH")]
    NotAUrl(String),
    /// A URL of another kind.
    #[error("\"{0}\" URLs cannot be loaded; only http:// and https:// can")]
    Scheme(String),
    /// Not a host and a port.
    #[error("\"{0}\" is not a place to connect to; write it as HOST:PORT or [ADDRESS]:PORT")]
    NotAPlace(String),
}

impl Target {
    /// Path and query, at least `/`.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// This target, but connections go elsewhere.
    #[must_use]
    pub fn via(self, via: Via) -> Self {
        Self { via: Some(via), ..self }
    }

    /// This target, with the name and the password, `name:password`, for Basic authentication (RFC 7617).
    #[must_use]
    pub fn with_user(self, user: String) -> Self {
        Self { user: Some(user), ..self }
    }

    /// Whether it is reached by TLS.
    pub fn is_tls(&self) -> bool {
        self.tls
    }

    /// The host as TLS wants it, without brackets.
    pub(crate) fn server_name(&self) -> &str {
        self.host.trim_start_matches('[').trim_end_matches(']')
    }

    /// The `Host` header: the port is left out where it is the scheme's own.
    pub(crate) fn authority(&self) -> String {
        if self.port == self.usual_port() {
            self.host.clone()
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }

    /// How absolute URLs of the target begin.
    pub(crate) fn site(&self) -> String {
        format!("{}://{}", self.scheme(), self.authority())
    }

    const fn scheme(&self) -> &'static str {
        if self.tls { "https" } else { "http" }
    }

    const fn usual_port(&self) -> u16 {
        if self.tls { 443 } else { 80 }
    }

    pub(crate) fn basic_credentials(&self) -> Option<String> {
        self.user.as_ref().map(|user| format!("Basic {}", BASE64_STANDARD.encode(user)))
    }

    /// Where connections go: the host and the port of the URL, or another place.
    pub(crate) fn place(&self) -> Via {
        self.via.clone().unwrap_or_else(|| Via::Host(self.host.clone(), self.port))
    }
}

impl FromStr for Target {
    type Err = TargetError;

    fn from_str(text: &str) -> Result<Self, TargetError> {
        let not_a_url = || TargetError::NotAUrl(text.to_owned());
        let uri: Uri = text.parse().map_err(|_| not_a_url())?;
        let tls = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            Some(scheme) => return Err(TargetError::Scheme(format!("{scheme}://"))),
            None => return Err(not_a_url()),
        };
        let host = uri.host().filter(|host| !host.is_empty()).ok_or_else(not_a_url)?.to_owned();
        // `Uri` takes a port that is not a number for an absent one.
        let authority = uri.authority().map_or("", |authority| authority.as_str());
        let (user, place) = match authority.rsplit_once('@') {
            Some((user, place)) => (Some(percent_decoded(user).ok_or_else(not_a_url)?), place),
            None => (None, authority),
        };
        let port = match place.strip_prefix(&host) {
            Some("") => {
                if tls {
                    443
                } else {
                    80
                }
            }
            Some(port) => port.strip_prefix(':').and_then(|port| port.parse().ok()).ok_or_else(not_a_url)?,
            None => return Err(not_a_url()),
        };
        // RFC 9112, section 3.2.1: an empty path is sent as /.
        let path = match uri.path_and_query().map_or("", |path| path.as_str()) {
            path if path.starts_with('/') => path.to_owned(),
            query => format!("/{query}"),
        };
        Ok(Self { tls, host, port, path, user, via: None })
    }
}

impl FromStr for Via {
    type Err = TargetError;

    /// Reads `HOST:PORT`.
    fn from_str(text: &str) -> Result<Self, TargetError> {
        let place = text.rsplit_once(':').and_then(|(host, port)| Some((host, port.parse().ok()?)));
        match place.filter(|(host, _)| !host.is_empty() && (!host.contains(':') || host.starts_with('['))) {
            Some((host, port)) => Ok(Self::Host(host.to_owned(), port)),
            None => Err(TargetError::NotAPlace(text.to_owned())),
        }
    }
}

impl fmt::Display for Target {
    /// The URL; without the password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.site(), self.path)
    }
}

/// `%40` and the like in a name or password (RFC 3986, section 2.1).
fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = rest.get(2..)?;
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_read_and_shown() {
        for (text, shown) in [
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080/"),
            ("http://localhost/a?b=c", "http://localhost/a?b=c"),
            ("http://[::1]:81/", "http://[::1]:81/"),
            ("http://localhost?b=c", "http://localhost/?b=c"),
            ("http://localhost:81?", "http://localhost:81/?"),
            ("http://localhost#part", "http://localhost/"),
            ("HTTP://localhost/a#part", "http://localhost/a"),
            ("https://localhost:443/", "https://localhost/"),
            ("https://localhost:80/", "https://localhost:80/"),
            ("http://me:secret@localhost/", "http://localhost/"),
        ] {
            assert_eq!(text.parse::<Target>().map(|target| target.to_string()), Ok(shown.to_owned()));
        }
    }

    #[test]
    fn what_cannot_be_loaded_is_refused() {
        let error = |text: &str| text.parse::<Target>().unwrap_err().to_string();
        assert_eq!(error("localhost"), "\"localhost\" is not a valid URL; write it as http://HOST:PORT/PATH");
        assert_eq!(
            error("ftp://localhost/"),
            "\"ftp://\" URLs cannot be loaded; only http:// and https:// can"
        );
        assert!(error("http:///x").contains("not a valid URL"));
        assert!(error("http://host:port/").contains("not a valid URL"));
        assert!(error("http://a%4@host/").contains("not a valid URL"));
    }

    #[test]
    fn a_name_and_a_password_become_a_header() {
        let target: Target = "http://me:p%40ss@localhost/".parse().unwrap();
        assert_eq!(target.basic_credentials().unwrap(), "Basic bWU6cEBzcw==");
    }

    #[test]
    fn another_place_may_be_connected_to() {
        assert_eq!("127.0.0.1:80".parse(), Ok(Via::Host("127.0.0.1".to_owned(), 80)));
        assert_eq!("[::1]:80".parse(), Ok(Via::Host("[::1]".to_owned(), 80)));
        for wrong in ["localhost", ":80", "::1:80", "host:http"] {
            assert!(wrong.parse::<Via>().is_err(), "{wrong}");
        }
    }
}
