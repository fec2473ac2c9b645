//! What a benchmark leaves: figures as text, pages, raw results, and the machine that they are of.

pub(crate) mod machine;
pub(crate) mod page;
pub(crate) mod raw;
pub(crate) mod text;
