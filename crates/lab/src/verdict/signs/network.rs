//! The network between the server and its clients.

use catalogue::Metric;
use catalogue::watch::{limits, network};

use super::bounds::{MOSTLY, percent};
use super::processors::Processors;
use super::sign::Sign;
use crate::verdict::level::Level;

pub(super) fn network(level: &Level, light: &Level) -> Option<Sign> {
    const WAITING: Metric = limits::QUEUE_WAITING;
    let held_up = |interface: &&str| {
        level.standing_of(WAITING, interface) >= MOSTLY
            && level.mean_of(limits::QUEUE_OVERLIMITS, interface)
                + level.mean_of(limits::QUEUE_DROPS, interface)
                > 0.0
    };
    let held_up = level.labels(WAITING).find(held_up);
    if let Some(interface) = held_up {
        return Some(Sign::sure(format!(
            "{interface} carried {:.1} Mbit/s, with {:.0} bytes in front of it that had to wait and {:.0} packets/s dropped.",
            level.mean_of(network::SENT_BYTES, interface) * 8e-6,
            level.mean_of(WAITING, interface),
            level.mean_of(limits::QUEUE_DROPS, interface)
        )));
    }
    // A link further away: the server has sent, and clients do not take it; transfers take longer and longer.
    let [now, before] = [level, light].map(|level| level.summary.latency.transfer.mean);
    let unsent = level.mean(limits::SOCKETS_UNSENT)?;
    let is_slow = now > 0.5 * level.summary.latency.total.mean && now > 2.0 * before && unsent > 65536.0;
    is_slow.then(|| {
        let window = level.mean(limits::SOCKETS_WINDOW_LIMITED).filter(|share| *share >= 0.5);
        let window = window.map_or_else(String::new, |share| {
            format!(" For {:.0} % of the time they let no more come (their windows were full).", percent(share))
        });
        Sign::sure(format!(
            "Transfers took {:.1} ms of {:.1} ms, and {:.0} kB were sent that clients did not have yet.{window}",
            now * 1e3,
            level.summary.latency.total.mean * 1e3,
            unsent / 1e3
        ))
    })
}

/// What has to be sent again, whatever the load.
pub(super) fn packet_loss(level: &Level) -> Option<Sign> {
    /// From a hundredth on each window of a transfer loses some.
    const LOST: f64 = 0.01;
    const BUSY: f64 = 0.8;
    let lost = [on_connections(level), as_counted(level)];
    let (lost, again) = lost.into_iter().flatten().min_by(|one, other| one.0.total_cmp(&other.0))?;
    let is_busy = Processors::of(level).is_some_and(|processors| processors.busy >= BUSY);
    (lost >= LOST && !is_busy).then(|| {
        Sign::of(
            lost / (2.0 * LOST),
            format!("{:.1} % of what was sent had to be sent again ({again}).", percent(lost)),
        )
    })
}

/// Of what was sent on connections that are there: what is said on others says nothing of the network, such as to clients that
/// have gone. Too much where connections are short, since those that lose something are there for longer.
fn on_connections(level: &Level) -> Option<(f64, String)> {
    /// Less is a few packets.
    const SOME: f64 = 100.0;
    let (sent, again) = (level.mean(limits::SOCKETS_SENT)?, level.mean(limits::SOCKETS_SENT_AGAIN)?);
    let share = if again >= SOME { again / sent } else { 0.0 };
    Some((share, format!("{:.1} kB/s", again / 1e3)))
}

/// As the kernel counts it, of all that it sends.
fn as_counted(level: &Level) -> Option<(f64, String)> {
    let [segments, again, syns] = [limits::SOCKETS_SEGMENTS, limits::RETRANSMITS, limits::SYN_RETRANSMITS]
        .map(|metric| level.mean(metric));
    // SYNs are sent again where there is no place for a connection.
    let again = (again? - syns.unwrap_or_default()).max(0.0);
    let share = again / (segments? + again).max(f64::MIN_POSITIVE);
    Some((if again >= 1.0 { share } else { 0.0 }, format!("{again:.0} segments/s")))
}
