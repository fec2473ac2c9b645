//! [`AdmissionControl`]: the policy with all that it is told and that waits for it.

use std::cell::RefCell;
use std::rc::Rc;

use crate::admission::driver::AdmissionDriver;
use crate::admission::guard::Guard;
use crate::runtime::clock::Clock;
use crate::runtime::notify::Notify;

/// The policy with all that it is told and that waits for it.
#[derive(Debug)]
pub(crate) struct AdmissionControl {
    pub(crate) clock: Rc<Clock>,
    pub(crate) driver: RefCell<AdmissionDriver>,
    /// Notified when the policy has something to process.
    pub(crate) turn: Notify,
    pub(crate) guard: Guard,
}

impl AdmissionControl {
    pub(crate) fn new(clock: Rc<Clock>, driver: AdmissionDriver, guard: Guard) -> Self {
        Self { clock, driver: RefCell::new(driver), turn: Notify::default(), guard }
    }
}
