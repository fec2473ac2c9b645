//! [`Change`]: what an operator changed, and [`Changes`]: the last of them.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use units::{Span, Time};

/// What an operator changed.
#[derive(Debug)]
pub(crate) struct Change<'a> {
    /// Name of the event.
    pub(crate) event: &'static str,
    /// Who did it: address and name.
    pub(crate) who: &'a str,
    /// What was changed.
    pub(crate) what: &'a str,
    pub(crate) old: Value,
    pub(crate) new: Value,
}

/// What operators have changed.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    kept: RefCell<VecDeque<Recorded>>,
    number: Cell<u64>,
}

/// A change.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Recorded {
    id: u64,
    /// When, in seconds since 1970.
    at: f64,
    /// The event that told of it: `knobs`, `mode`, `class`, `drain` or `reload`.
    event: &'static str,
    /// Who did it: address and name of the token.
    who: String,
    /// What was changed.
    what: String,
    old: Value,
    new: Value,
}

impl Changes {
    const KEPT: usize = 500;

    /// Keeps a change that was made at `at`.
    pub(crate) fn add(&self, at: Time, change: Change<'_>) {
        let Change { event, who, what, old, new } = change;
        let at = at.since(Time::ZERO).as_secs_f64();
        let id = self.number.get() + 1;
        self.number.set(id);
        let mut kept = self.kept.borrow_mut();
        kept.truncate(Self::KEPT - 1);
        kept.push_front(Recorded { id, at, event, who: who.to_owned(), what: what.to_owned(), old, new });
    }

    /// When the latest was made that is of more than a session's class.
    pub(crate) fn latest(&self) -> Option<Time> {
        let kept = self.kept.borrow();
        let latest = kept.iter().find(|change| change.event != "class");
        latest.map(|latest| Time::ZERO + Span::from_secs_f64(latest.at))
    }

    /// The latest first.
    pub(crate) fn all(&self) -> Vec<Recorded> {
        self.kept.borrow().iter().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_are_kept_the_latest_first() {
        let changes = Changes::default();
        for number in 0..1000 {
            let at = Time::ZERO + Span::from_secs(number);
            let (old, new) = (Value::Null, number.into());
            changes.add(at, Change { event: "knobs", who: "somebody", what: "knobs", old, new });
        }
        let all = changes.all();
        assert_eq!((all.len(), all[0].id, all[0].at, all[499].id), (500, 1000, 999.0, 501));
    }
}
