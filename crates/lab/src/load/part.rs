//! [`Part`]: what is counted in a part of a run's measuring window.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use record::RunDirectory;
use units::Time;

use super::backlog::Counted;
use crate::error::Error;

/// Parts of a run, each long against a request, so that their means hardly depend on each other.
const PARTS: usize = 10;

/// What began in a tenth of the window.
#[derive(Debug, Clone, Default)]
pub(crate) struct Part {
    /// Its length, s.
    pub(crate) length: f64,
    pub(crate) requests: u64,
    /// Those that were answered as they should be.
    pub(crate) good: u64,
    /// How long these took in all, from when they were due, s.
    pub(crate) latency: f64,
    /// How much of that the generator was late, s.
    pub(crate) late: f64,
    /// Sessions that set out, and those that were completed, by class.
    pub(crate) sessions: BTreeMap<Arc<str>, (u64, u64)>,
}

impl Part {
    /// The run in `directory`, part by part.
    pub(crate) fn read(directory: &Path) -> Result<Vec<Self>, Error> {
        let run = RunDirectory::open(directory)?;
        let window = run.info()?.window;
        let length = (window.to_ns - window.from_ns) as f64 / PARTS as f64;
        // Nothing outside of the window.
        let number = |at: Time| {
            let since = at.as_nanos().checked_sub(window.from_ns).filter(|_| window.contains(at))?;
            Some(((since as f64 / length) as usize).min(PARTS - 1))
        };
        let mut parts = vec![Self { length: length * 1e-9, ..Self::default() }; PARTS];
        for row in run.requests()? {
            let row = row?;
            let Some(number) = number(row.intended) else { continue };
            let part = &mut parts[number];
            part.requests += 1;
            if row.error.is_none() {
                part.good += 1;
                part.late += row.started.since(row.intended).as_secs_f64();
                part.latency += row.ended().since(row.intended).as_secs_f64();
            }
        }
        for row in run.sessions()? {
            let row = row?;
            let Some(number) = number(row.started_ns) else { continue };
            let (started, completed) = parts[number].sessions.entry(row.class).or_default();
            *started += 1;
            *completed += u64::from(row.completed);
        }
        Ok(parts)
    }

    /// What was completed per second.
    pub(crate) fn rate(&self, counted: Counted) -> f64 {
        let count = match counted {
            Counted::Sessions => self.sessions.values().map(|(_, completed)| completed).sum(),
            Counted::Requests => self.good,
        };
        count as f64 / self.length
    }

    /// Mean latency of what was answered, s.
    pub(crate) fn mean_latency(&self) -> Option<f64> {
        (self.good > 0).then(|| self.latency / self.good as f64)
    }
}
