//! [`Rule`]: a class, and what a request must be to be of it.

use http::StatusCode;
use units::ClassId;

use crate::rules::condition::{Condition, Statuses};
use crate::rules::subject::View;

/// One rule.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rule {
    pub(crate) class: ClassId,
    pub(crate) conditions: Vec<Condition>,
}

impl Rule {
    pub(super) fn matches(&self, view: &View<'_>) -> bool {
        self.conditions.iter().all(|condition| condition.holds(view))
    }

    /// Whether it would match if the response were as it asks for.
    pub(super) fn matches_but_for_status(&self, view: &View<'_>) -> bool {
        let mut others =
            self.conditions.iter().filter(|condition| !matches!(condition, Condition::Status(_)));
        others.all(|condition| condition.holds(view))
    }

    /// What it asks of the response.
    pub(super) fn statuses(&self) -> Option<&[Statuses]> {
        self.conditions.iter().find_map(|condition| match condition {
            Condition::Status(statuses) => Some(statuses.as_slice()),
            _ => None,
        })
    }

    /// Whether it asks for such a response.
    pub(super) fn asks_for(&self, status: StatusCode) -> bool {
        self.statuses().is_some_and(|statuses| statuses.iter().any(|asked| asked.includes(status)))
    }

    /// Whether a session that is there may come to meet it.
    pub(super) fn is_of_the_client(&self) -> bool {
        self.conditions.iter().any(Condition::is_of_the_client)
    }
}
