//! [`Memory`]: the budget of bytes that all connections together may keep in memory.

use std::cell::RefCell;
use std::rc::Rc;

use policy::connections::MemoryBudget;

/// The budget of bytes that all connections together may keep in memory, shared by all that keep some.
pub(crate) type Memory = Rc<RefCell<MemoryBudget>>;
