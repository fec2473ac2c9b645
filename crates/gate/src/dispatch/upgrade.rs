//! Whether a request may become a tunnel.

use std::net::IpAddr;

use http::request::Parts;
use http_body::Body as _;

use crate::dispatch::active_config::ActiveConfig;
use crate::dispatch::proxy::Proxy;
use crate::runtime::network::network;
use crate::tunnel::tunnels::Asked;
use crate::upstream::body::Body;
use crate::upstream::upgrade;
use gate_config::settings::client::TUNNELS;

/// All places for tunnels are taken.
#[derive(Debug)]
pub(crate) struct Full;

/// The protocol that the client asks for, if it may have it.
///
/// Anything else is not an error: a server may ignore `Upgrade` (RFC 9110 section 7.8), and so does
/// the gate. It ignores it in particular on a request with a body, after whose end it would not
/// be clear to everybody what the bytes are.
///
/// # Errors
/// When it may, and there are too many already.
pub(crate) fn asked(
    proxy: &Proxy,
    config: &ActiveConfig,
    client: IpAddr,
    head: &Parts,
    body: &Body,
) -> Result<Option<Box<Asked>>, Full> {
    let Some(protocol) = upgrade::asked(head) else { return Ok(None) };
    let mut allowed = config.settings.tunnels.protocols.iter();
    let known = allowed.any(|name| protocol.as_bytes().eq_ignore_ascii_case(name.as_bytes()));
    if !known || !body.is_end_stream() {
        return Ok(None);
    }
    let room = (proxy.admission().guard.connections() as f64 * TUNNELS) as u32;
    let most = config.settings.tunnels.most.min(room);
    let share = config.settings.policy.limits.client_share;
    let permit = proxy.tunnels.enter(network(client), most, share).ok_or(Full)?;
    Ok(Some(Box::new(Asked { protocol: protocol.clone(), permit })))
}
