//! What is said between the screen and the conversation.

use crate::api::changes::Changes;
use crate::api::foresight::Foresight;
use crate::api::history::{History, Sample};
use crate::api::queue::{Queue, Wanted};
use crate::api::state::{Knobs, State};

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
    Changes(Changes),
    Queue(Result<Queue, String>),
    /// What came of [`Order::Foresee`] for these knobs.
    Foreseen(Knobs, Result<Foresight, String>),
    /// What came of an order that changes something: what to tell the user.
    Done(Result<String, String>),
    /// What came of [`Order::Move`], from one to the other.
    Moved {
        from: Knobs,
        to: Knobs,
        /// Why not.
        refused: Option<String>,
    },
    /// The gate is not there, and why; it is tried again.
    Lost(String),
}

/// What the user wants.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Order {
    /// To know what would come of the second knobs, beside the first, which hold now.
    Foresee {
        now: Knobs,
        then: Knobs,
    },
    Move {
        from: Knobs,
        to: Knobs,
    },
    /// Shadow mode on or off.
    Shadow(bool),
    Drain(bool),
    /// To see what waits, from now on; or no longer.
    Queue(Option<Wanted>),
}
