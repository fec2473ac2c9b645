//! An experiment's directory to one self-contained HTML file and a terminal table.
//!
//! Nothing is measured or kept here: everything is derived from the record, each time anew.
//! [`Report::read`] derives the figures, [`write()`] puts them into the page that `web/` builds,
//! [`table`] shows them on a terminal.

mod derive;
mod error;
mod estimate;
mod measured;
mod method;
mod model;
mod page;
mod terminal;
mod text;
mod verdict;

pub use error::Error;
pub use estimate::Estimate;
pub use method::{Fact, Source};
pub use model::{
    Capacity, ClassPoint, ClassReading, ClientReading, Duration, ErrorCount, Phase, Phases, Point, Report,
    Requests, Test,
};
pub use page::write;
pub use terminal::table;
pub use verdict::{KeyFigure, Verdict};
