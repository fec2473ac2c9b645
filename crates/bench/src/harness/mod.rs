//! What benchmarks of programs under load have in common: which cases there are, in which order they run, what a
//! run is and what it costs, and what is said of all of them.

pub(crate) mod cell;
pub(crate) mod conditions;
pub(crate) mod options;
pub(crate) mod plan;
pub(crate) mod rounds;
pub(crate) mod trial;
