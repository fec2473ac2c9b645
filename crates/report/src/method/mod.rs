//! How it was measured: facts from the record, and the texts that it was made by.

pub(crate) mod experiment;
pub(crate) mod fact;
pub(crate) mod machine;
mod plan;
