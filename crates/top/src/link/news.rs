//! What is said between the screen and the conversation.

use crate::api::changes::Changes;
use crate::api::foresight::Foresight;
use crate::api::history::{History, Sample};
use crate::api::outcome::Outcome;
use crate::api::queue::{Queue, Wanted};
use crate::api::state::{Knobs, Setting, State};

/// What a gate says when it is met.
#[derive(Debug, Clone)]
pub(crate) struct Greeting {
    pub(crate) state: State,
    pub(crate) history: History,
    pub(crate) changes: Changes,
}

/// What is new.
#[derive(Debug, Clone)]
pub(crate) enum News {
    /// The gate is there, for the first time or again.
    Met(Box<Greeting>),
    State(Box<State>),
    Sample(Sample),
    /// The last samples, some of which may be known.
    Samples(History),
    /// Why events are not told, so that all is asked for again and again; or that they are told.
    Polling(Option<String>),
    Changes(Changes),
    /// What waits of what was wanted.
    Queue(Wanted, Result<Queue, String>),
    /// What came of [`Order::Foresee`] for these knobs.
    Foreseen {
        knobs: Vec<Knobs>,
        told: Result<Foresight, String>,
    },
    /// What came of [`Order::LookBack`].
    Outcome {
        since: f64,
        told: Result<Outcome, String>,
    },
    /// What came of an order that changes something: what to tell the user.
    Done(Result<String, String>),
    /// [`Order::Move`] was carried out, from one to the other.
    Moved {
        from: Knobs,
        to: Knobs,
    },
    /// It was not, and why.
    NotMoved(String),
    /// It was not, as the knobs were others by then.
    Overtaken {
        set: Setting,
        state: Box<State>,
        changes: Changes,
    },
    /// The gate is not there, and why; it is tried again.
    Lost(String),
}

/// What the user wants.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Order {
    /// To know what would come of these knobs, the first are the most urgent; or, of none, which to take.
    Foresee(Vec<Knobs>),
    /// To know what came of the sessions that began since then, Unix seconds.
    LookBack {
        since: f64,
    },
    /// To move those that are set, if all are as expected.
    Move {
        expected: Knobs,
        set: Setting,
    },
    /// Shadow mode on or off.
    Shadow(bool),
    Drain(bool),
    /// To see what waits, from now on; or no longer.
    Queue(Option<Wanted>),
}

impl News {
    /// Whether the next of its kind says all that this one says.
    pub(super) fn is_outdone_by(&self, next: &Self) -> bool {
        matches!(
            (self, next),
            (Self::State(_), Self::State(_))
                | (Self::Changes(_), Self::Changes(_))
                | (Self::Queue(..), Self::Queue(..))
                | (Self::Polling(_), Self::Polling(_))
                | (Self::Met(_), Self::Met(_))
                | (Self::Lost(_), Self::Lost(_))
        )
    }

    /// Whether little is missed without it.
    pub(super) fn is_sample(&self) -> bool {
        matches!(self, Self::Sample(_) | Self::Samples(_))
    }
}
