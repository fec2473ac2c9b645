//! [`Peer`]: who is at the other end of a connection.

use std::cell::OnceCell;
use std::net::IpAddr;

use http::HeaderValue;

/// Who is at the other end of a connection.
#[derive(Debug)]
pub(crate) struct Peer {
    /// As the socket says, or the proxy in front in the PROXY protocol.
    pub(crate) address: IpAddr,
    /// The name of the server that the client asked for in the TLS handshake, in lower case.
    pub(crate) server_name: Option<Box<str>>,
    /// Whether the connection is one of TLS.
    pub(crate) secure: bool,
    text: OnceCell<HeaderValue>,
}

impl Peer {
    pub(crate) fn new(address: IpAddr) -> Self {
        Self { address, server_name: None, secure: false, text: OnceCell::new() }
    }

    /// The address as text: written once for all requests of the connection.
    pub(crate) fn text(&self) -> &HeaderValue {
        self.text.get_or_init(|| {
            let text = self.address.to_canonical().to_string();
            // An address is made of characters that a header may have.
            HeaderValue::from_str(&text).unwrap_or_else(|_| HeaderValue::from_static("unknown"))
        })
    }
}
