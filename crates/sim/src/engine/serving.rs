//! [`Serving`]: what requests are offered to.

use super::request::Request;
use crate::watch::TierUse;

/// A server, or several.
pub(crate) trait Serving {
    /// A request, with all that it needs.
    type Request: Request;

    /// Begins a request or lets it wait; gives whether there was room for it.
    fn offer(&mut self, now: f64, request: Self::Request) -> bool;

    /// When something will happen if nothing is offered before; infinity where nothing is there.
    fn next(&self) -> f64;

    /// Lets happen what is to happen `now`, at [`Self::next`]; a request that has been served.
    fn advance(&mut self, now: f64) -> Option<Self::Request>;

    /// Requests that wait for a thread.
    fn waiting(&self) -> usize;

    /// Requests that have one.
    fn in_service(&self) -> usize;

    /// What is used of each tier behind it, until `now`.
    fn tiers(&mut self, now: f64) -> Vec<TierUse>;

    /// Busy processors and requests present, each times seconds, until `now`.
    fn areas(&mut self, now: f64) -> (f64, f64);
}
