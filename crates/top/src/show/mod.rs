//! The screen: what it knows, what keys do to that, and how it looks.
//!
//! | file | idea |
//! | --- | --- |
//! | `screen` | the loop of news and keys on a thread of its own |
//! | `model` | what is known of the gate, and what the user looks at |
//! | `desk` | knobs that are tried out before they are moved |
//! | `forecast` | what the gate predicts of knobs |
//! | `aftermath` | what came of a move |
//! | `keys` | what a key does |
//! | `draw` | from top to bottom; `overview`, `charts`, `knobs`, `panel`, `lists` draw its parts, `hints` the last line |
//! | `compare` | classes as they are beside what they would be, or were: in a sentence, and in columns; `verdict` judges them |

mod aftermath;
mod charts;
mod compare;
mod desk;
mod draw;
mod forecast;
mod hints;
mod keys;
mod knobs;
mod lists;
mod model;
mod overview;
mod panel;
pub(crate) mod screen;
#[cfg(test)]
mod tests;
mod verdict;
