//! Tunnels: connections on which client and server have gone over to another protocol.
//!
//! They begin with a request like any other: it waits for its place, and the server may refuse.
//! Only when the server has answered with 101 and the protocol that was asked for do bytes pass
//! unread, and none that the client sent go to the server before that: a server that has refused
//! would take them for requests that nobody has seen. From then on a tunnel has no place in the
//! window, which it would hold for hours without doing anything; there is a limit for all instead.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::net::IpAddr;
use std::rc::Rc;
use std::time::Duration;

use http::header::{CONNECTION, UPGRADE};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Response, StatusCode, Version};
use http_body::Body as _;
use hyper::upgrade::OnUpgrade;

use crate::admission::driver::network;
use crate::dispatch::snapshot::Live;
use crate::process::gate::Gate;
use crate::upstream::body::Body;
use crate::upstream::connection::Open;

/// All tunnels.
#[derive(Debug, Default)]
pub(crate) struct Tunnels {
    open: Cell<u32>,
    opened: Cell<u64>,
    refused: Cell<u64>,
    /// Bytes from clients and to them.
    pub(crate) passed: [Cell<u64>; 2],
    by_client: RefCell<HashMap<u64, u32>>,
}

/// One of the tunnels that there may be.
pub(crate) struct Place {
    pub(crate) gate: Rc<Gate>,
    pub(crate) network: u64,
}

/// What a client asks for.
pub(crate) struct Asked {
    pub(crate) protocol: HeaderValue,
    place: Place,
}

/// All places are taken.
#[derive(Debug)]
pub(crate) struct Full;

/// A tunnel that begins when the client has been told.
pub(crate) struct Tunnel {
    pub(crate) protocol: HeaderValue,
    pub(crate) server: OnUpgrade,
    /// It is no longer among the pool's connections, but it is one.
    pub(crate) _open: Open,
    pub(crate) place: Place,
    pub(crate) idle_timeout: Duration,
}

impl std::fmt::Debug for Tunnel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tunnel").finish_non_exhaustive()
    }
}

/// The protocol that the client asks for, if it may have it.
///
/// Anything else is no error: a server may ignore `Upgrade` (RFC 9110 section 7.8), and so does
/// the gate. It ignores it in particular on a request with a body, after whose end it would not
/// be clear to everybody what the bytes are.
///
/// # Errors
/// When it may, and there are too many already.
pub(crate) fn asked(
    gate: &Rc<Gate>,
    live: &Live,
    client: IpAddr,
    head: &Parts,
    body: &Body,
) -> Result<Option<Asked>, Full> {
    // Most requests have none.
    let Some(protocol) = sole(&head.headers, &UPGRADE) else { return Ok(None) };
    let mut allowed = live.settings.tunnels.protocols.iter();
    let known = allowed.any(|name| protocol.as_bytes().eq_ignore_ascii_case(name.as_bytes()));
    let asks = head.version == Version::HTTP_11 && connection_upgrades(&head.headers);
    if !known || !asks || !body.is_end_stream() {
        return Ok(None);
    }
    let place = Tunnels::enter(gate, client, live).ok_or(Full)?;
    Ok(Some(Asked { protocol: protocol.clone(), place }))
}

/// Whether the server goes over to the protocol that was asked for.
pub(crate) fn begins<B>(response: &Response<B>, protocol: &HeaderValue) -> bool {
    response.status() == StatusCode::SWITCHING_PROTOCOLS
        && connection_upgrades(response.headers())
        && sole(response.headers(), &UPGRADE)
            .is_some_and(|given| given.as_bytes().eq_ignore_ascii_case(protocol.as_bytes()))
}

fn sole<'a>(headers: &'a HeaderMap, name: &http::HeaderName) -> Option<&'a HeaderValue> {
    let mut values = headers.get_all(name).iter();
    let first = values.next()?;
    values.next().is_none().then_some(first)
}

fn connection_upgrades(headers: &HeaderMap) -> bool {
    let lines = headers.get_all(CONNECTION).iter();
    lines
        .flat_map(|line| line.as_bytes().split(|byte| *byte == b','))
        .any(|option| option.trim_ascii().eq_ignore_ascii_case(b"upgrade"))
}

impl Tunnels {
    /// A place for a tunnel of that client, if there is one: one address may have as many of them
    /// as of the places where requests wait.
    fn enter(gate: &Rc<Gate>, client: IpAddr, live: &Live) -> Option<Place> {
        let tunnels = &gate.tunnels;
        let network = network(client);
        // Each takes two connections, and half of all are left to requests.
        let room = u32::try_from(gate.guard.connections() / 4).unwrap_or(u32::MAX);
        let most = live.settings.tunnels.most.min(room);
        let share = live.settings.policy.limits.client_share.as_f64();
        let of_one = (f64::from(most) * share).ceil();
        let mut by_client = tunnels.by_client.borrow_mut();
        let mine = by_client.entry(network).or_default();
        if tunnels.open.get() >= most || f64::from(*mine) >= of_one {
            if *mine == 0 {
                by_client.remove(&network);
            }
            tunnels.refused.set(tunnels.refused.get() + 1);
            return None;
        }
        *mine += 1;
        tunnels.open.set(tunnels.open.get() + 1);
        Some(Place { gate: Rc::clone(gate), network })
    }

    /// Tunnels open, or asked for and not yet decided.
    pub(crate) fn open(&self) -> u32 {
        self.open.get()
    }

    /// Tunnels opened since the start, and requests for one that found no place.
    pub(crate) fn counts(&self) -> (u64, u64) {
        (self.opened.get(), self.refused.get())
    }

    /// Bytes from clients, and to them.
    pub(crate) fn passed(&self) -> [u64; 2] {
        [self.passed[0].get(), self.passed[1].get()]
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let tunnels = &self.gate.tunnels;
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
    /// A tunnel to the server that has sent `response`.
    pub(crate) fn new<B>(response: &mut Response<B>, Asked { protocol, place }: Asked) -> Self {
        let tunnels = &place.gate.tunnels;
        tunnels.opened.set(tunnels.opened.get() + 1);
        let open = place.gate.pool.hold();
        let idle_timeout = place.gate.live().settings.tunnels.idle_timeout;
        Self { protocol, server: hyper::upgrade::on(response), _open: open, place, idle_timeout }
    }

    /// What is spoken in it.
    pub(crate) fn protocol(&self) -> &HeaderValue {
        &self.protocol
    }
}
