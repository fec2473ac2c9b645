//! [`Rule`]: a class, and what a request must be to be of it.

use units::ClassId;

use crate::rules::condition::Condition;

/// One rule.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rule {
    pub(crate) class: ClassId,
    pub(crate) conditions: Vec<Condition>,
}
