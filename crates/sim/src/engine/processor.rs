//! [`Processor`]: what threads share.

use super::request::Request;

/// A request in the server.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Job {
    /// When it came, in seconds.
    pub(crate) arrived: f64,
    /// What it needs of the processor, in seconds.
    pub(crate) demand: f64,
    pub(crate) class: u32,
    /// Whose it is, to its source.
    pub(crate) whose: u32,
}

/// What works on several jobs, by some discipline.
pub(crate) trait Processor {
    /// What it works on.
    type Request: Request;

    /// Jobs that hold a thread.
    fn len(&self) -> usize;

    /// Those of them that need a processor.
    fn working(&self) -> usize {
        self.len()
    }

    /// Begins a job.
    fn start(&mut self, now: f64, job: Self::Request);

    /// When something will happen if no job is begun before; infinity when there is none.
    fn next(&self) -> f64;

    /// Lets happen what is to happen `now`, at [`Self::next`]; a job that is done.
    fn advance(&mut self, now: f64) -> Option<Self::Request>;
}
