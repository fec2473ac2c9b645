//! What the generator lacks, and what a server that connects further lacks as well.

use catalogue::watch::limits;

use super::behind::back_end;
use super::bounds::{FAILED, FULL, percent};
use super::connections::fd_limit;
use super::processors::are_at_their_end;
use super::sign::Sign;
use crate::verdict::level::{Level, OUTGOING};

pub(super) fn client(level: &Level) -> Option<Sign> {
    /// What is late with less to do was held up by something else.
    const BUSY_OR_WAITING: f64 = 0.5;
    /// With a quota it waits most of the time that it has something to do, however little that is.
    const WAITING: f64 = 0.1;
    let client = &level.summary.client;
    let is_busy = client.cpu + client.waited >= BUSY_OR_WAITING;
    let is_kept_waiting = client.waited >= client.cpu.max(WAITING);
    (!level.is_valid && (is_busy || is_kept_waiting)).then(|| {
        Sign::sure(format!(
            "The generator could not keep up at {:.0}/s: {}.",
            level.rate,
            client.why_invalid.join("; ")
        ))
    })
}

pub(super) fn ephemeral_ports(level: &Level) -> Option<Sign> {
    let without = level.summary.client.without_port;
    (without > 0)
        .then(|| Sign::sure(format!("{without} connections could not be made for want of a local port.")))
}

/// Who passes requests on needs a port for each connection as well, and a minute longer where it closes it first.
pub(super) fn ports_to_back_end(level: &Level, light: &Level) -> Option<Sign> {
    let failed = level.failed();
    // Who waits for something else holds them for longer.
    let is_kept_waiting = || are_at_their_end(level) || back_end(level, light).is_some();
    let are_taken = level.most(limits::SOCKETS_PORTS_USED).is_some_and(|used| used >= FULL);
    let refused = level.refused.ports.as_ref();
    // Without a word of it, what has no descriptor has no port either.
    let is_said = refused.is_some() || fd_limit(level).is_none();
    let is_asking = level.labels(OUTGOING).next().is_some() && is_said;
    (level.is_behind && failed > FAILED && are_taken && is_asking && !is_kept_waiting()).then(|| {
        let log = refused.map_or_else(String::new, |line| format!(", and its log says \"{line}\""));
        Sign::of(
            if refused.is_some() { 1.0 } else { 0.85 },
            format!(
                "The server had no local port for some connections to what stands behind it, as all were in use or in TIME-WAIT: {:.1} % of requests failed{log}.",
                percent(failed)
            ),
        )
    })
}
