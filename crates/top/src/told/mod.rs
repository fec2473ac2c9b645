//! What is made of state and samples: whether anybody suffers, and figures by class.

pub(crate) mod figures;
pub(crate) mod verdict;
