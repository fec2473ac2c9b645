//! Handshakes of TLS, of the server and of what it asks.

use catalogue::watch::limits;

use super::behind::{back_end, is_lookup};
use super::bounds::percent;
use super::processors::{Processors, are_at_their_end};
use super::sign::Sign;
use crate::verdict::level::{Level, OUTGOING};

/// Handshakes of TLS take a good part of the processors where the server has no more of these: public keys, whose
/// functions are not always told by name.
pub(super) fn handshakes(level: &Level, light: &Level) -> Option<Sign> {
    handshakes_here(level).or_else(|| handshakes_behind(level, light))
}

fn handshakes_here(level: &Level) -> Option<Sign> {
    const PART: f64 = 0.35;
    /// Of all responses, connections that were made for them: what is encrypted on one that is kept has no handshake.
    const OWN: f64 = 0.1;
    let Processors { program, used, .. } = Processors::of(level)?;
    let of = |metric| level.mean_of(metric, program);
    let (named, unnamed) = (of(limits::PROGRAM_HANDSHAKES), of(limits::PROGRAM_CRYPTOGRAPHY));
    let share = (named + unnamed) / used.max(f64::MIN_POSITIVE);
    let opened = level.summary.connections.opened as f64 / level.summary.responses.max(1) as f64;
    // Those with what stands behind it are known by name alone.
    let is_asking =
        named / used.max(f64::MIN_POSITIVE) >= PART && level.labels(OUTGOING).any(|to| !is_lookup(to));
    let is_asked = level.is_tls && share >= PART && opened >= OWN;
    ((is_asked || is_asking) && are_at_their_end(level)).then(|| {
        let with = if is_asked {
            format!("; {:.0} connections were opened for 100 responses", percent(opened))
        } else {
            ", with what it asks".to_owned()
        };
        Sign::of(
            share / 0.5,
            format!(
                "Of the {used:.2} processors that {program} used, {:.0} % were used for handshakes of TLS and what belongs to them{with}.",
                percent(share)
            ),
        )
    })
}

/// The same of what the server asks, where that is at its end; whatever the part is that has no name.
fn handshakes_behind(level: &Level, light: &Level) -> Option<Sign> {
    const PART: f64 = 0.5;
    let share = |program: &str| level.mean_of_looks(limits::BEHIND_CRYPTOGRAPHY, program);
    let all = level.labels(limits::BEHIND_CRYPTOGRAPHY);
    let program = all.max_by(|one, other| share(one).total_cmp(&share(other)))?;
    let share = share(program);
    let behind = back_end(level, light).filter(|_| share >= PART)?;
    Some(Sign::of(
        share / 0.6,
        format!(
            "Of what {program} used, which the server asks, {:.0} % went to cryptography: handshakes, if connections to it are made anew. {}",
            percent(share),
            behind.said
        ),
    ))
}
