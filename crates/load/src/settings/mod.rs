//! What a run is to do, as its user says it.

pub(crate) mod checks;
pub(crate) mod exports;
pub(crate) mod options;
pub(crate) mod stop;
pub(crate) mod target;
pub(crate) mod view;
