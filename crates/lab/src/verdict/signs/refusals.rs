//! What the server, or something in front of it, refuses on purpose.

use super::behind::back_end;
use super::bounds::{is_unaccepted, percent};
use super::held::Held;
use super::processors::Processors;
use super::sign::Sign;
use crate::verdict::level::Level;

/// Of all answers, those that say so.
const SOME: f64 = 0.02;

/// Answers that say so (RFC 6585, section 4; RFC 9110, section 15.6.4) while nothing else is at its end, or requests that
/// are held back with nothing to wait for.
pub(super) fn rate_limit(level: &Level, light: &Level) -> Option<Sign> {
    let is_busy = Processors::of(level).is_some_and(|processors| processors.are_used());
    if is_unaccepted(level) {
        return None;
    }
    answered(level, light, is_busy).or_else(|| held_back(level, light))
}

fn answered(level: &Level, light: &Level, is_busy: bool) -> Option<Sign> {
    let of = |status: u16| level.summary.status.get(&status).copied().unwrap_or_default() as f64;
    let responses = (level.summary.responses.max(1)) as f64;
    let (many, unavailable) = (of(429) / responses, of(503) / responses);
    let status = if many >= unavailable { 429 } else { 503 };
    let said = level.refused.limited.as_ref();
    // Who is out of something says 503 as well, but takes longer for it, or has its processors busy.
    let is_quick = level.summary.latency.total.p50 <= 3.0 * light.summary.latency.total.p50.max(1e-3);
    // Who does not know the server cannot tell it from one that can do no more; nor is it that of what stands behind it.
    let is_of_its_own = level.is_watched() && back_end(level, light).is_none();
    let strength = match (said, status) {
        (Some(_), _) => 1.0,
        (None, 429) => 0.95,
        (None, _) if is_quick && !is_busy && is_of_its_own => 0.8,
        _ => return None,
    };
    let quoted = said.map_or_else(String::new, |line| format!(" Its log says \"{line}\"."));
    (many + unavailable >= SOME).then(|| {
        Sign::of(
            strength,
            format!(
                "It served {:.1}/s of {:.0}/s, and answered {:.0} % with status {status}; a response took {:.1} ms in the median, {:.1} ms at {:.0}/s.{quoted}",
                level.served(),
                level.rate,
                percent(many + unavailable),
                level.summary.latency.total.p50 * 1e3,
                light.summary.latency.total.p50 * 1e3,
                light.rate
            ),
        )
    })
}

/// Requests wait, and no thread for anything, nor the server for an answer: what it has read it holds back.
fn held_back(level: &Level, light: &Level) -> Option<Sign> {
    // Who limits a rate lets something through all the time.
    let held = Held::of(level, light).filter(|held| held.is_of_rate() && !level.is_stalled)?;
    Some(Sign::of(
        0.6,
        format!(
            "{:.0} more requests than at {:.0}/s had been read and not answered, while no thread of the server waited for anything but events: it holds them back, and answers {:.1}/s.",
            held.requests,
            light.rate,
            level.served()
        ),
    ))
}
