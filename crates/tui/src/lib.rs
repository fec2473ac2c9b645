//! What users see while a run lasts, whichever tool it is of: a picture on the whole terminal, which a thread
//! of its own draws at the lowest priority, so that nothing that happens to it reaches the measurement.
//!
//! | file | idea |
//! | --- | --- |
//! | `viewer` | the thread, and the looks it is given |
//! | `view` | the loop of looks and keys; what a tool has to draw |
//! | `screen` | the terminal while it is ours, given back whatever happens |
//! | `theme`, `figures`, `chart`, `scale`, `lines` | colours, numbers, lines over time, texts |
//! | `priority` | whose work can wait |

mod chart;
pub mod figures;
mod lines;
mod priority;
mod scale;
mod screen;
mod theme;
mod view;
mod viewer;

pub use chart::{Series, draw_chart, points_in};
pub use lines::{draw_help, wrapped};
pub use priority::{be_ordinary, give_way, goes_first};
pub use screen::Screen;
pub use theme::{Theme, is_dumb, wants_colour};
pub use view::{Controls, End, View, run, wait_for_event};
pub use viewer::{Viewer, ask_to_end};
