//! What a gate says of itself, as plain values; [`read`] makes them of an answer.

pub(crate) mod changes;
pub(crate) mod estimate;
pub(crate) mod foresight;
pub(crate) mod history;
pub(crate) mod outcome;
pub(crate) mod queue;
mod reading;
pub(crate) mod state;

pub(crate) use reading::{parse, read};
