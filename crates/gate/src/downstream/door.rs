//! [`Door`]: how connections of one listener are taken in.

use std::net::IpAddr;
use std::rc::Rc;
use std::sync::Arc;

use http1::proxy_protocol::{self, Header};
use ipnet::IpNet;

use crate::clients::peer::{Peer, ServerName};
use crate::downstream::certificates::Certificates;
use crate::downstream::handshakes::Handshakes;
use crate::downstream::socket::Socket;
use crate::downstream::tls::{Tls, Transport};
use gate_config::settings::listener::{H2, Listener, Protocols};

/// TLS cannot be set up on a listener.
#[derive(Debug, thiserror::Error)]
#[error("cannot set up TLS: {0}")]
pub struct TlsError(String);

/// How connections of one listener are taken in.
#[derive(Debug)]
pub(crate) struct Door {
    protocols: Protocols,
    /// Proxies that say with the PROXY protocol who connects; they must.
    proxies: Vec<IpNet>,
    tls: Option<Tls>,
    handshakes: Rc<Handshakes>,
}

/// A connection on which HTTP can begin.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) transport: Transport,
    pub(crate) peer: Peer,
    pub(crate) http2: bool,
}

/// What a client that means HTTP/2 sends first (RFC 9113 section 3.4).
const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
impl Door {
    /// As a listener is configured.
    pub(crate) fn new(
        listener: &Listener,
        certificates: Option<&Arc<Certificates>>,
        handshakes: &Rc<Handshakes>,
    ) -> Result<Self, TlsError> {
        let tls = certificates.map(|all| Tls::new(Arc::clone(all), listener.protocols));
        Ok(Self {
            protocols: listener.protocols,
            proxies: listener.proxies.clone(),
            tls: tls.transpose().map_err(|why| TlsError(why.to_string()))?,
            handshakes: Rc::clone(handshakes),
        })
    }

    /// Takes in a connection from `address`. `None` when the client goes away or is turned away.
    pub(crate) async fn open(&self, mut socket: Socket, address: IpAddr) -> Option<Opened> {
        let mut peer = Peer::new(address);
        // An address of IPv4 may come in that of IPv6.
        if self.proxies.iter().any(|net| net.contains(&address.to_canonical())) {
            peer.address = proxied(&mut socket).await?.unwrap_or(address);
        }
        let Some(tls) = &self.tls else {
            let http2 = self.begins_as_http2(&mut socket).await?;
            return Some(Opened { transport: Transport::Plain(socket), peer, http2 });
        };
        let stream = Box::pin(tls.accept(socket, &self.handshakes)).await?;
        let (_, session) = stream.get_ref();
        peer.secure = true;
        peer.server_name = session.server_name().map(ServerName::new);
        let http2 = match session.alpn_protocol() {
            Some(protocol) => protocol == H2.as_bytes(),
            // Who names no protocol speaks HTTP/1.1, or knows better than to ask.
            None => !self.protocols.http1,
        };
        Some(Opened { transport: Transport::Tls(stream), peer, http2 })
    }

    /// Whether connections begin with a TLS handshake.
    pub(crate) fn has_tls(&self) -> bool {
        self.tls.is_some()
    }

    /// Whether the client speaks HTTP/2 without having asked (RFC 9113 section 3.3).
    async fn begins_as_http2(&self, socket: &mut Socket) -> Option<bool> {
        if !self.protocols.http2 {
            return Some(false);
        }
        if !self.protocols.http1 {
            return Some(true);
        }
        loop {
            let begins = socket.ahead();
            if begins.len() >= PREFACE.len() || !PREFACE.starts_with(begins) {
                return Some(begins.starts_with(PREFACE));
            }
            if !socket.read_ahead().await.ok()? {
                return None;
            }
        }
    }
}

/// What a proxy says of the client; `None` when it does not, as it must.
async fn proxied(socket: &mut Socket) -> Option<Option<IpAddr>> {
    loop {
        match proxy_protocol::parse(socket.ahead()) {
            Header::Whole { length, source } => {
                socket.skip(length);
                return Some(source);
            }
            Header::Garbage => return None,
            Header::Incomplete if socket.read_ahead().await.ok()? => {}
            Header::Incomplete => return None,
        }
    }
}
