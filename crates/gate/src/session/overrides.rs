//! [`Overrides`]: sessions whose class an operator has set.
//!
//! Tokens are stateless, so a token that says something else may come back at any time; what the
//! operator wants is kept here until no token of the session can be valid any more.

use std::cell::RefCell;
use std::collections::HashMap;

use units::{ClassId, SessionId, Span, Time};

/// Sessions whose class an operator has set: bounded, and forgotten when the session must have ended.
#[derive(Debug, Default)]
pub(crate) struct Overrides(RefCell<HashMap<u64, Override>>);

/// What was set for one session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Override {
    pub(crate) class: ClassId,
    pub(crate) until: Time,
}

/// The table is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the classes of {MAX_SESSIONS} sessions are set already; take some back, or wait until the sessions end"
)]
pub(crate) struct Full;

/// Sessions that somebody cares about by hand; a class for more is a rule.
pub(crate) const MAX_SESSIONS: usize = 10_000;

impl Overrides {
    /// The class that was set for a session. Costs nothing while none is.
    pub(crate) fn get(&self, session: SessionId, now: Time) -> Option<ClassId> {
        let table = self.0.borrow();
        if table.is_empty() {
            return None;
        }
        table.get(&session.0).filter(|set| now < set.until).map(|set| set.class)
    }

    /// Sets a session's class for `span`; gives what was set before.
    pub(crate) fn set(
        &self,
        session: SessionId,
        class: ClassId,
        now: Time,
        span: Span,
    ) -> Result<Option<ClassId>, Full> {
        let mut table = self.0.borrow_mut();
        if table.len() >= MAX_SESSIONS && !table.contains_key(&session.0) {
            table.retain(|_, set| now < set.until);
            if table.len() >= MAX_SESSIONS {
                return Err(Full);
            }
        }
        let before = table.insert(session.0, Override { class, until: now + span });
        Ok(before.filter(|before| now < before.until).map(|before| before.class))
    }

    /// Takes back what was set; gives it.
    pub(crate) fn unset(&self, session: SessionId, now: Time) -> Option<ClassId> {
        let before = self.0.borrow_mut().remove(&session.0)?;
        (now < before.until).then_some(before.class)
    }

    /// Whether there is hardly room for more.
    pub(crate) fn is_crowded(&self) -> bool {
        self.0.borrow().len() > MAX_SESSIONS / 2
    }

    /// The sessions that are in it, whether or not it still holds.
    pub(crate) fn sessions(&self) -> Vec<u64> {
        self.0.borrow().keys().copied().collect()
    }

    /// All that hold, in the order of their ids.
    pub(crate) fn all(&self, now: Time) -> Vec<(SessionId, Override)> {
        let table = self.0.borrow();
        let mut all: Vec<_> = table
            .iter()
            .filter(|(_, set)| now < set.until)
            .map(|(session, set)| (SessionId(*session), *set))
            .collect();
        all.sort_unstable_by_key(|(session, _)| session.0);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_holds_until_the_session_must_have_ended() {
        let (table, start) = (Overrides::default(), Time::from_nanos(1));
        let (session, hour) = (SessionId(7), Span::from_secs(3600));
        assert_eq!(table.set(session, ClassId(0), start, hour), Ok(None));
        assert_eq!(table.get(session, start), Some(ClassId(0)));
        assert_eq!(table.get(SessionId(8), start), None);
        assert_eq!(table.set(session, ClassId(1), start, hour), Ok(Some(ClassId(0))));
        assert_eq!(table.get(session, start + hour), None);
        assert_eq!(table.all(start).len(), 1);
        assert_eq!(table.unset(session, start), Some(ClassId(1)));
        assert_eq!(table.unset(session, start), None);
    }

    #[test]
    fn the_table_is_bounded_and_makes_room_of_what_has_ended() {
        let (table, start, span) = (Overrides::default(), Time::from_nanos(1), Span::from_secs(1));
        for id in 0..MAX_SESSIONS as u64 {
            assert_eq!(table.set(SessionId(id), ClassId(0), start, span), Ok(None));
        }
        assert_eq!(table.set(SessionId(u64::MAX), ClassId(0), start, span), Err(Full));
        assert_eq!(table.set(SessionId(3), ClassId(1), start, span), Ok(Some(ClassId(0))));
        assert_eq!(table.set(SessionId(u64::MAX), ClassId(0), start + span, span), Ok(None));
        assert_eq!(table.all(start + span).len(), 1);
    }
}
