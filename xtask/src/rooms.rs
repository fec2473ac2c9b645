//! The rooms inside each crate, from low to high, and which lower ones each may import from.
//!
//! A room is a top-level module, a folder or a file. `cargo xtask rooms CRATE` prints what a crate has.

/// A top-level module of a crate and the lower ones that it may import from.
pub type Room = (&'static str, &'static [&'static str]);

/// The rooms of the crates that have several folders.
pub const ROOMS: &[(&str, &[Room])] = &[(
    "load",
    &[
        ("error", &[]),
        ("names", &[]),
        ("engine", &["names"]),
        ("measure", &[]),
        ("settings", &["engine", "measure", "names"]),
        ("client", &["engine", "error", "measure", "settings"]),
        ("schedule", &["client", "engine", "measure", "settings"]),
        ("show", &["measure", "settings"]),
        ("run", &["client", "engine", "error", "measure", "schedule", "settings", "show"]),
    ],
)];
