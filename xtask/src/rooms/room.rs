//! What a room is.

/// A top-level module of a crate and the lower ones that it may import from.
pub type Room = (&'static str, &'static [&'static str]);
