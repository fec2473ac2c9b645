//! [`User`]: on whose behalf a request is sent.

use std::cell::RefCell;

use traffic::{Condition, Values};

use crate::client::cookies::Jar;

/// A user: a class, a session, and its cookies.
#[derive(Debug)]
pub(crate) struct User {
    /// Number of the class in the plan.
    pub(crate) class: usize,
    /// Number of the session; `None` for requests that stand alone, whose cookies are not kept.
    pub(crate) session: Option<u64>,
    pub(crate) jar: RefCell<Jar>,
    /// What the session knows; `None` where there is no session, or no row of data was left for it.
    pub(crate) values: RefCell<Option<Values>>,
}

impl User {
    /// Whether a page is one that the user asks for.
    pub(crate) fn meets(&self, conditions: &[Condition]) -> bool {
        conditions.is_empty() || self.values.borrow().as_ref().is_some_and(|values| values.hold(conditions))
    }
}
