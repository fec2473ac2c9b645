//! Rules: which class a new session belongs to (Web2K section 2), and what raises it later.
//!
//! Rules are tried in order and the first whose conditions all hold decides; a request that no
//! rule names is of the last class. Every condition takes several patterns, one of which must
//! match. `condition` is what a rule can ask, `expression` the same in CEL, `list` finds the
//! first that matches without trying all.

pub mod all;
pub(crate) mod condition;
pub(crate) mod expression;
pub(crate) mod list;
pub(crate) mod rule;
pub mod subject;
