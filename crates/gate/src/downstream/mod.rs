//! Serving client connections: accepting them (`accept`, `listener`), what a connection goes through
//! before HTTP is spoken on it (`door`: PROXY protocol, TLS, the choice of the version), and HTTP
//! itself (`connection`, `http1`, `http2`).
//!
//! `socket` reads ahead, `tls` takes from it what is its own, `certificates` are chosen by the name
//! the client asks for, and `handshakes` ration the arithmetic of TLS.

pub(crate) mod accept;
pub(crate) mod certificate;
pub(crate) mod certificates;
pub(crate) mod connection;
pub(crate) mod context;
pub(crate) mod date;
pub(crate) mod door;
pub(crate) mod farewell;
pub(crate) mod handler;
pub(crate) mod handshakes;
pub(crate) mod http1;
pub(crate) mod http2;
pub(crate) mod io;
pub(crate) mod listener;
pub(crate) mod pulse;
pub(crate) mod socket;
pub(crate) mod streamed;
pub(crate) mod tls;
pub(crate) mod unsent;
