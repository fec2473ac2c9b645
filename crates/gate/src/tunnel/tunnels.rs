//! [`Tunnels`]: all of them, and how many there may be; [`Tunnel`]: one that begins.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use http::HeaderValue;
use tokio::io::{AsyncRead, AsyncWrite};

use units::Ratio;

use crate::runtime::open::Open;
use crate::tunnel::drain::Drain;

/// All tunnels.
#[derive(Debug, Default)]
pub(crate) struct Tunnels {
    open: Cell<u32>,
    opened: Cell<u64>,
    refused: Cell<u64>,
    /// Bytes from clients and to them.
    pub(super) passed: [Cell<u64>; 2],
    pub(super) drain: Drain,
    by_client: RefCell<HashMap<u64, u32>>,
}

/// Counts as one of the tunnels that may be open, until it is dropped.
pub(crate) struct TunnelPermit {
    pub(super) tunnels: Rc<Tunnels>,
    network: u64,
}

/// What a client asks for.
pub(crate) struct Asked {
    pub(crate) protocol: HeaderValue,
    pub(crate) permit: TunnelPermit,
}

/// A connection to a server, which is read from and written to.
pub(crate) trait Both: AsyncRead + AsyncWrite + Unpin {}

impl<T: AsyncRead + AsyncWrite + Unpin> Both for T {}

/// A tunnel that begins when the client has been told.
pub(crate) struct Tunnel {
    pub(crate) protocol: HeaderValue,
    pub(super) server: Box<dyn Both>,
    /// What the server has said already.
    pub(super) said: Bytes,
    /// It is no longer among the pool's connections, but it is one.
    _open: Open,
    pub(crate) permit: TunnelPermit,
    pub(crate) idle_timeout: Duration,
}

impl std::fmt::Debug for Tunnel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tunnel").finish_non_exhaustive()
    }
}

impl Tunnels {
    /// A permit for a tunnel of a client of `network`, if there is one among `most`: one network may have
    /// a share of them, as of the places where requests wait.
    pub(crate) fn enter(self: &Rc<Self>, network: u64, most: u32, share: Ratio) -> Option<TunnelPermit> {
        let of_one = (f64::from(most) * share.as_f64()).ceil();
        let mut by_client = self.by_client.borrow_mut();
        let mine = by_client.entry(network).or_default();
        if self.open.get() >= most || f64::from(*mine) >= of_one {
            if *mine == 0 {
                by_client.remove(&network);
            }
            self.refused.set(self.refused.get() + 1);
            return None;
        }
        *mine += 1;
        self.open.set(self.open.get() + 1);
        Some(TunnelPermit { tunnels: Rc::clone(self), network })
    }

    /// Ends them one after the other, and those that begin from now on; the last is over after `longest`.
    pub(crate) fn end(&self, longest: Duration) {
        self.drain.begin(longest);
    }

    /// Tunnels open, or asked for and not yet decided.
    pub(crate) fn open(&self) -> u32 {
        self.open.get()
    }

    /// Tunnels opened since the start, and requests for one that were refused for want of a permit.
    pub(crate) fn counts(&self) -> (u64, u64) {
        (self.opened.get(), self.refused.get())
    }

    /// Bytes from clients, and to them.
    pub(crate) fn passed(&self) -> [u64; 2] {
        [self.passed[0].get(), self.passed[1].get()]
    }
}

impl Drop for TunnelPermit {
    fn drop(&mut self) {
        let tunnels = &self.tunnels;
        tunnels.open.set(tunnels.open.get() - 1);
        let mut by_client = tunnels.by_client.borrow_mut();
        if let Some(mine) = by_client.get_mut(&self.network) {
            *mine -= 1;
            if *mine == 0 {
                by_client.remove(&self.network);
            }
        }
    }
}

impl Tunnel {
    /// A tunnel to a server, which has `said` something already, over a connection that counts as `open`.
    pub(crate) fn new(
        server: Box<dyn Both>,
        said: Bytes,
        asked: Asked,
        open: Open,
        idle_timeout: Duration,
    ) -> Self {
        let Asked { protocol, permit } = asked;
        permit.tunnels.opened.set(permit.tunnels.opened.get() + 1);
        Self { protocol, server, said, _open: open, permit, idle_timeout }
    }

    /// What is spoken in it.
    pub(crate) fn protocol(&self) -> &HeaderValue {
        &self.protocol
    }

    /// Whether frames of RFC 6455 are (section 11.2).
    pub(super) fn is_websocket(&self) -> bool {
        self.protocol.as_bytes().eq_ignore_ascii_case(b"websocket")
    }
}
