//! The files of a model, for the server to serve.
//!
//! What a file holds follows from its URL alone: a run with another seed, and a check of what
//! was served, need nothing but the name of the model. The bytes do not compress, so that a
//! server that compresses what it sends gains nothing by it and is seen to lose the time.

mod filler;
mod manifest;
mod write;

pub use filler::{Filler, bytes_of};
pub use manifest::Manifest;
pub use write::{ContentError, Written, write};
