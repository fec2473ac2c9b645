//! When things start.

pub(crate) mod generate;
