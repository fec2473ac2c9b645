//! What a connection goes through before HTTP is spoken on it: PROXY protocol, TLS, and the
//! choice between HTTP/1.1 and HTTP/2.
//!
//! `socket` reads ahead, `proxy` and `tls` take from it what is theirs, `certificates` are chosen by
//! the name the client asks for, and `handshakes` ration the arithmetic of TLS.

mod certificate;
mod certificates;
mod door;
mod handshakes;
mod listening;
mod place;
mod proxy;
mod socket;
mod tls;

pub(crate) use certificate::{Files, Unusable};
pub(crate) use certificates::Certificates;
pub(crate) use door::{Door, Opened, Protocols};
pub(crate) use handshakes::{Counts, Handshakes};
pub(crate) use listening::{Accepting, Listening};
pub(crate) use place::Place;
#[cfg(any(test, feature = "fuzz"))]
pub(crate) use proxy::{Header as ProxyHeader, parse as proxy_header};
pub(crate) use socket::Socket;
pub(crate) use tls::{Tls, Transport};
