//! `cargo xtask`: checks that people would otherwise forget.
fn main() {}
