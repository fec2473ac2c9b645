//! A request that a process has begun without asking.

use std::net::IpAddr;

use http::request::Parts;

use super::served::Inside;
use crate::admission::decision::Caller;
use crate::admission::permit::Permit;
use crate::dispatch::proxy::Proxy;
use crate::dispatch::session::current_session;
use crate::observe::access_log::account::Account;
use crate::upstream::body::Progress;

/// A request that began without being asked about.
pub(super) fn begun(proxy: &Proxy, head: Box<Parts>, (address, known): (IpAddr, Caller)) -> (Inside, Caller) {
    let config = proxy.config();
    let mut account =
        Account::begin(&proxy.access_log, &proxy.clock, &head, address, &config.settings.telemetry);
    let current = current_session(proxy, &config, &head, address);
    // What was told of its head may have been too short for the cookie.
    let caller = current.as_ref().map_or(known, |current| Caller::Known(current.known(proxy.clock.last())));
    account.arrived(Progress::default(), caller.known().map(|known| known.session.id));
    let (permit, details) = Permit::begun(proxy.admission(), head, address, caller);
    account.decided(details);
    let raises = current.map(|current| current.raises).unwrap_or_default();
    (Inside { permit, account, raises }, caller)
}
