//! The screen: what it knows, what keys do to that, and how it looks.
//!
//! | file | idea |
//! | --- | --- |
//! | `screen` | the loop of news and keys on a thread of its own |
//! | `model` | what is known of the gate, and what the user looks at |
//! | `desk` | knobs that are tried out before they are moved |
//! | `keys` | what a key does |
//! | `draw` | from top to bottom; `overview`, `charts`, `knobs`, `lists` draw its parts |

mod charts;
mod desk;
mod draw;
mod keys;
mod knobs;
mod lists;
mod model;
mod overview;
pub(crate) mod screen;
#[cfg(test)]
mod tests;
