//! [`BoundConnections`]: connections to servers that belong to a client's connection each.
//!
//! NTLM, and Negotiate as most servers speak it, authenticate the connection and not the request (RFC 4559 section
//! 6): whatever comes later over the same connection is taken to be from the same user. Such a connection is used for
//! requests of the client's connection that authenticated it, and for no others.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::{Rc, Weak};
use std::task::{Context, Waker};

use http::HeaderMap;
use http::header::AUTHORIZATION;
use policy::connections::ConnectionId;
use units::{Span, Time};

use crate::clients::client::Client;
use crate::upstream::http1::idle::Idle;
use crate::upstream::server::Server;

/// Whose a connection to a server is when it carries no request.
#[derive(Debug)]
pub(crate) enum Owner {
    /// Anybody's.
    All,
    /// It authenticates the client of this connection.
    Client(Rc<Client>),
    /// It authenticates a client of HTTP/2, whose other requests may go over others: it is closed.
    Nobody,
}

/// Connections to servers that belong to a client's connection each.
#[derive(Debug, Default)]
pub(crate) struct BoundConnections(RefCell<HashMap<ConnectionId, Bound>>);

/// A connection that belongs to a client's.
#[derive(Debug)]
pub(crate) struct Bound {
    pub(crate) server: Rc<Server>,
    pub(crate) connection: Idle,
    client: Weak<Client>,
    since: Time,
}

impl Owner {
    /// Whose a connection is that is, or is about to be, authenticated for this client.
    pub(crate) fn of(client: &Rc<Client>) -> Self {
        if client.is_stream() { Self::Nobody } else { Self::Client(Rc::clone(client)) }
    }
}

/// Whether a request authenticates the connection that it goes over. Schemes are compared without regard to case
/// (RFC 9110 section 11.1).
pub(crate) fn authenticates_connection(headers: &HeaderMap) -> bool {
    const SCHEMES: [&[u8]; 3] = [b"NTLM", b"Negotiate", b"Kerberos"];
    headers.get_all(AUTHORIZATION).iter().any(|credentials| {
        let scheme = credentials.as_bytes().split(|byte| *byte == b' ').next().unwrap_or_default();
        SCHEMES.iter().any(|named| scheme.eq_ignore_ascii_case(named))
    })
}

impl BoundConnections {
    /// The connection that belongs to this client, if there is one.
    pub(crate) fn take(&self, client: &Client) -> Option<Bound> {
        let mut all = self.0.borrow_mut();
        if all.is_empty() { None } else { all.remove(&client.id()) }
    }

    /// Keeps a connection for the next request of this client.
    pub(super) fn keep(&self, client: &Rc<Client>, server: &Rc<Server>, connection: Idle, now: Time) {
        let (server, weak) = (Rc::clone(server), Rc::downgrade(client));
        self.0.borrow_mut().insert(client.id(), Bound { server, connection, client: weak, since: now });
    }

    /// Lets go of those whose client has gone, that were free for too long, or that the server has closed.
    pub(super) fn sweep(&self, now: Time, longest: Span) {
        let mut nobody = Context::from_waker(Waker::noop());
        self.0.borrow_mut().retain(|_, bound| {
            bound.client.strong_count() > 0
                && now.since(bound.since) <= longest
                && bound.connection.is_quiet(&mut nobody)
        });
    }

    /// How many there are without a request.
    pub(super) fn len(&self) -> usize {
        self.0.borrow().len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemes_of_the_connection_are_known_from_others() {
        for (credentials, expected) in [
            ("NTLM TlRMTVNTUAAB", true),
            ("negotiate YII", true),
            ("Bearer ntlm", false),
            ("Basic TlRMTQ==", false),
            ("Digest username=\"NTLM\"", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(AUTHORIZATION, credentials.parse().unwrap());
            assert_eq!(authenticates_connection(&headers), expected, "{credentials}");
        }
        assert!(!authenticates_connection(&HeaderMap::new()));
    }
}
