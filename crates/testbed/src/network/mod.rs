//! Networks of their own for what is measured: a namespace for each run, or one for the server and one
//! for the generator with a link between them.

pub(crate) mod isolation;
pub(crate) mod link;
