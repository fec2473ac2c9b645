//! Whether two records differ by more than chance explains.

pub(crate) mod baseline;
pub(crate) mod comparison;
mod figures;
