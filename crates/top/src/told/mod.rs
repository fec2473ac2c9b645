//! What is made of state and samples: whether anybody suffers, which servers fail, and figures by class.

pub(crate) mod failing;
pub(crate) mod figures;
pub(crate) mod verdict;
