//! What was seen at each probe of a search.

use std::path::Path;

use record::Samples;
use record::search::{ProbeResult, SearchResult};

use super::level::Level;
use super::log::Refused;
use crate::error::Error;
use crate::search::result::is_at;

/// What was seen at each probe; the server's log is read where it is known.
pub(crate) fn of_search(
    found: &SearchResult,
    root: &Path,
    samples: &Samples,
    log: Option<&Path>,
) -> Result<Vec<Level>, Error> {
    let refused = log.map(Refused::read).unwrap_or_default();
    let too_much = found.capacity.as_ref().filter(|_| !found.is_of_crowd).map(|capacity| capacity.ci[1]);
    let level = |probe: &ProbeResult| {
        let mut level = Level::read(&root.join(&probe.directory), probe, samples)?;
        level.refused.clone_from(&refused);
        // A probe below the capacity that others outvoted was chance.
        level.is_behind &= too_much.is_none_or(|rate| is_at(probe, rate) || level.rate > rate);
        Ok(level)
    };
    let mut levels: Vec<Level> = found.probes.iter().map(level).collect::<Result<_, Error>>()?;
    // A crowd is all that the server can do. The client before it is what that is compared with, but what is at its end
    // for one may be for all.
    if let (true, Some(last)) = (found.is_of_crowd, levels.last_mut()) {
        (last.is_open, last.is_behind) = (true, true);
    }
    Ok(levels)
}
