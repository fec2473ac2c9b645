//! [`AdmissionControl`]: the policy with all that it is told and that waits for it.

use std::cell::RefCell;
use std::rc::Rc;

use crate::admission::driver::Core;
use crate::admission::guard::Guard;
use crate::runtime::clock::Clock;
use crate::runtime::notify::Bell;

/// The policy with all that it is told and that waits for it.
#[derive(Debug)]
pub(crate) struct AdmissionControl {
    pub(crate) clock: Rc<Clock>,
    pub(crate) core: RefCell<Core>,
    /// Rung when the policy has something to process.
    pub(crate) turn: Bell,
    pub(crate) guard: Guard,
}

impl AdmissionControl {
    pub(crate) fn new(clock: Rc<Clock>, core: Core, guard: Guard) -> Self {
        Self { clock, core: RefCell::new(core), turn: Bell::default(), guard }
    }
}
