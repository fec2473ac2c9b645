//! `cargo xtask`: checks that people would otherwise forget.
//!
//! [`rules`] says what holds in this project; [`tidy`] reads the workspace and complains.

pub mod rooms;
pub mod rules;
pub mod tidy;
