//! Running as a service: reading the configuration again, handing over to another process,
//! telling systemd, giving up root's rights.

use std::os::fd::OwnedFd;

use crate::observe::console::Console;
use crate::observe::foresight::Foresight;
use crate::process::error::Error;
use crate::process::handover::{self, Control, Predecessor};
use crate::process::privileges;
use crate::process::reloads::Source;
use crate::runtime::connector::Connector;
use crate::runtime::inherited::Sockets;
use crate::runtime::log::say;
use crate::runtime::net::ListenError;
use crate::session::cookies::Secret;
use gate_config::settings::listener::NamedFile;
use gate_config::settings::operation::Operation;

/// What a gate has from where it was started.
#[derive(Debug, Default)]
pub(crate) struct Heritage {
    /// Where its configuration can be read again.
    pub(crate) source: Option<Source>,
    /// The secret that the gate before had made up for its sessions.
    pub(crate) secret: Option<Secret>,
    /// How servers are reached.
    pub(crate) connector: Connector,
    /// Who says what other knobs would do.
    pub(crate) foresight: Option<Foresight>,
    /// What operators see.
    pub(crate) console: Option<Console>,
}

/// Listening sockets to pass on, each with what it is for.
pub(crate) type Listeners = Vec<(String, OwnedFd)>;

/// Sockets passed on to this process: by the gate that is to be replaced, if there is one, or
/// by systemd.
///
/// # Errors
/// When there is such a gate and it does not hand over, or systemd passes what is not a socket.
pub(crate) fn passed_on(operation: &Operation) -> Result<(Option<Predecessor>, Sockets), Error> {
    let inherited = Sockets::inherited().map_err(ListenError::from)?;
    let Some(NamedFile { path, .. }) = &operation.control else { return Ok((None, inherited)) };
    Ok(match handover::take_over(path, privileges::user(operation))? {
        Some((predecessor, sockets)) => (Some(predecessor), sockets),
        None => (None, inherited),
    })
}

/// Offers `listeners` to the gate that follows until one has taken them; gives its process.
/// `secret` is what its sessions go on with. Without a control socket no gate follows.
pub(crate) async fn successor(
    control: Option<&Control>,
    listeners: &Listeners,
    secret: impl Fn() -> Option<Secret>,
) -> i32 {
    if let Some(control) = control {
        match control.offer(listeners, secret).await {
            Ok(pid) => return pid,
            Err(why) => say!("cannot hand over to another gate: {why}"),
        }
    }
    std::future::pending().await
}
