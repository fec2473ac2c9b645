//! [`Target`]: the URL on the command line.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use http::Uri;

use crate::Error;

/// Where requests go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    host: String,
    port: u16,
    path: String,
}

/// Why a text is no URL that load can be put on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// Not a URL.
    #[error("\"{0}\" is no URL; write it as http://HOST:PORT/PATH")]
    NotAUrl(String),
    /// A URL of another kind.
    #[error("\"{0}\" URLs cannot be loaded; only http:// can")]
    Scheme(String),
}

impl Target {
    /// Path and query, at least `/`.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The `Host` header: the port is left out where it is the scheme's own.
    pub(crate) fn authority(&self) -> String {
        if self.port == 80 { self.host.clone() } else { format!("{}:{}", self.host, self.port) }
    }

    /// The first address that the host's name stands for.
    pub(crate) async fn resolve(&self) -> Result<SocketAddr, Error> {
        let bare = self.host.trim_start_matches('[').trim_end_matches(']');
        if let Ok(address) = bare.parse::<IpAddr>() {
            return Ok(SocketAddr::new(address, self.port));
        }
        let failed = |source| Error::Resolve { host: self.host.clone(), source };
        let mut addresses = tokio::net::lookup_host((bare, self.port)).await.map_err(failed)?;
        addresses.next().ok_or_else(|| failed(io::Error::other("it has none")))
    }
}

impl FromStr for Target {
    type Err = TargetError;

    fn from_str(text: &str) -> Result<Self, TargetError> {
        let not_a_url = || TargetError::NotAUrl(text.to_owned());
        let uri: Uri = text.parse().map_err(|_| not_a_url())?;
        match uri.scheme_str() {
            Some("http") => {}
            Some(scheme) => return Err(TargetError::Scheme(format!("{scheme}://"))),
            None => return Err(not_a_url()),
        }
        let host = uri.host().filter(|host| !host.is_empty()).ok_or_else(not_a_url)?.to_owned();
        // `Uri` takes a port that is no number for none, and lets a user's name pass.
        let authority = uri.authority().map_or("", |authority| authority.as_str());
        let port = match authority.strip_prefix(&host) {
            Some("") => 80,
            Some(port) => port.strip_prefix(':').and_then(|port| port.parse().ok()).ok_or_else(not_a_url)?,
            None => return Err(not_a_url()),
        };
        let path = uri.path_and_query().map_or("/", |path| path.as_str()).to_owned();
        Ok(Self { host, port, path })
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "http://{}{}", self.authority(), self.path)
    }
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
        ] {
            assert_eq!(text.parse::<Target>().map(|target| target.to_string()), Ok(shown.to_owned()));
        }
    }

    #[test]
    fn what_cannot_be_loaded_is_refused() {
        let error = |text: &str| text.parse::<Target>().unwrap_err().to_string();
        assert_eq!(error("localhost"), "\"localhost\" is no URL; write it as http://HOST:PORT/PATH");
        assert_eq!(error("https://localhost/"), "\"https://\" URLs cannot be loaded; only http:// can");
        assert!(error("http:///x").contains("no URL"));
        assert!(error("http://host:port/").contains("no URL"));
        assert!(error("http://user@host/").contains("no URL"));
    }
}
