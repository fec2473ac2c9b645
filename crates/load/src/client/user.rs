//! [`User`]: on whose behalf a request is sent.

use std::cell::RefCell;

use crate::client::context::ThreadContext;
use crate::client::cookies::Jar;

/// A user: a class, a session, and its cookies.
#[derive(Debug)]
pub(crate) struct User {
    /// Number of the class in the plan.
    pub(crate) class: usize,
    /// Number of the session; `None` for requests that stand alone, whose cookies are not kept.
    pub(crate) session: Option<u64>,
    pub(crate) jar: RefCell<Jar>,
}

impl User {
    pub(crate) fn new(thread: &ThreadContext, class: usize, session: Option<u64>) -> Self {
        let cookie = thread.plan.classes.get(class).and_then(|class| class.cookie.as_ref());
        Self { class, session, jar: RefCell::new(Jar::new(cookie)) }
    }
}
