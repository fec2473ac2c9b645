//! What is seen while an experiment is done: on a terminal a table that is updated in place,
//! elsewhere a line per event.

mod row;
mod state;
mod style;
mod table;
pub(crate) mod terminal;
