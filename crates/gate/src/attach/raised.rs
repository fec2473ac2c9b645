//! Sessions that come to a higher class by what the server answers.

use http::StatusCode;
use units::{ClassId, SessionId};

use super::attached::Attached;
use crate::admission::decision::{Basis, Caller};
use crate::runtime::log::say;
use crate::session::overrides::Overrides;

impl Attached {
    pub(super) fn raise_by_status(&self, slot: u32, raises: &[usize], status: u16) {
        let Ok(status) = StatusCode::from_u16(status) else { return };
        let known = self.slots.borrow_mut().get(slot).and_then(|served| served.caller.known());
        let class = known.filter(|_| !raises.is_empty()).and_then(|known| {
            let rules = &self.proxy.config().settings.rules;
            Some(rules.raised_by(raises, status, known.session.class)?.1)
        });
        if let Some(class) = class {
            self.raise(slot, class, false);
        }
    }

    /// The session of a connection's request is of a higher class from now on. Its response has begun by then: the client is
    /// told with the response to the next.
    pub(super) fn raise(&self, slot: u32, class: ClassId, by_back_end: bool) {
        let mut slots = self.slots.borrow_mut();
        let Some(served) = slots.get(slot) else { return };
        let Some(mut known) = served.caller.known() else { return };
        // What an operator has set, the back-end does not change.
        if known.basis == Basis::Operator || class >= known.session.class {
            return;
        }
        if self.tell_later(&self.proxy.raised, known.session.id, class) {
            self.proxy.raises.count(by_back_end);
            (known.session.class, known.session.is_raised, known.basis) = (class, true, Basis::Raised);
            served.caller = Caller::Known(known);
            self.memory().slots[slot as usize].set_may_begin(false);
        }
    }

    /// A session is of a class that its client has not been told of: it is asked about when it comes again. Whether there was room
    /// to remember it.
    pub(super) fn tell_later(&self, table: &Overrides, session: SessionId, class: ClassId) -> bool {
        let idle = self.proxy.config().settings.session.limits.idle;
        if table.set(session, class, self.proxy.clock.last(), idle).is_ok() {
            self.memory().tokens.mark(session.0);
            return true;
        }
        self.calm.ends();
        if !self.is_full_said.replace(true) {
            say!(
                "too many sessions have been raised whose clients have not come back; some stay in their classes"
            );
        }
        false
    }
}
