//! [`Peer`]: who is at the other end of a connection.

use std::cell::OnceCell;
use std::net::IpAddr;
use std::sync::Arc;

use http::HeaderValue;
use http::request::Parts;
use http1::headers::forwarded::{self, Scheme};

/// Who is at the other end of a connection.
#[derive(Debug)]
pub(crate) struct Peer {
    /// As the socket says, or the proxy in front in the PROXY protocol.
    pub(crate) address: IpAddr,
    pub(crate) server_name: Option<ServerName>,
    /// Whether the connection is one of TLS.
    pub(crate) secure: bool,
    text: OnceCell<HeaderValue>,
}

/// The name of the server that a client asked for in the TLS handshake, in lower case. Requests
/// carry it along for the rules.
#[derive(Debug, Clone)]
pub(crate) struct ServerName(Arc<str>);

impl ServerName {
    pub(crate) fn new(name: &str) -> Self {
        Self(name.to_ascii_lowercase().into())
    }

    /// That of a request's connection, if it has one.
    pub(crate) fn of(head: &Parts) -> Option<&str> {
        head.extensions.get().map(|Self(name)| &**name)
    }
}

impl Peer {
    pub(crate) fn new(address: IpAddr) -> Self {
        Self { address, server_name: None, secure: false, text: OnceCell::new() }
    }

    /// The address as text: written once for all requests of the connection.
    fn text(&self) -> &HeaderValue {
        self.text.get_or_init(|| forwarded::text(self.address))
    }

    /// As the headers have it that say for whom a request is.
    pub(crate) fn hop(&self) -> forwarded::Peer<'_> {
        let scheme = if self.secure { Scheme::Https } else { Scheme::Http };
        forwarded::Peer { address: self.address, text: self.text(), scheme }
    }
}
