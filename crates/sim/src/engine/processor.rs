//! [`Processor`]: what threads share.

use super::request::Request;
use crate::watch::TierUse;

/// What works on several jobs, by some discipline.
pub(crate) trait Processor {
    /// A request, with all that it needs.
    type Request: Request;

    /// Jobs that hold a thread.
    fn len(&self) -> usize;

    /// Those of them that need a processor.
    fn working(&self) -> usize {
        self.len()
    }

    /// Begins a job.
    fn start(&mut self, now: f64, job: Self::Request);

    /// When something will happen if no job is begun before; infinity without a job.
    fn next(&self) -> f64;

    /// What is used of each tier behind it, until `now`.
    fn tiers(&mut self, _now: f64) -> Vec<TierUse> {
        Vec::new()
    }

    /// Lets happen what is to happen `now`, at [`Self::next`]; a job that is done.
    fn advance(&mut self, now: f64) -> Option<Self::Request>;
}
