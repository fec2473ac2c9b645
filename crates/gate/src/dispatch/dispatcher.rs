//! [`Dispatcher`]: what a request needs once it has its place in the server.

use std::rc::Rc;

use crate::admission::control::AdmissionControl;
use crate::dispatch::abandoned::AbandonedRequests;
use crate::upstream::pool::Pool;

/// What a request needs once it has its place in the server.
#[derive(Debug)]
pub(crate) struct Dispatcher {
    pub(crate) admission: Rc<AdmissionControl>,
    pub(crate) pool: Rc<Pool>,
    pub(crate) abandoned: AbandonedRequests,
}
