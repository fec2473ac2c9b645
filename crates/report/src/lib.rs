//! The directory of an experiment or of a run to one self-contained HTML file and a terminal table.
//!
//! Nothing is measured or kept here: everything is derived from the record, each time anew.
//! [`Report::read`] derives the figures of an experiment and [`RunReport::read`] those of a run of
//! the load generator; both are put into the page that `web/` builds, and shown on a terminal.
//! [`SimulationReport::read`] derives those of the simulator and its sweeps, [`WatchReport::read`] those of the
//! monitor, [`SearchReport::read`] those of searches for the knee. [`Document`] is whichever of the five a directory
//! holds.

mod derive;
mod document;
mod error;
mod estimate;
mod files;
mod limit;
mod measured;
mod method;
mod model;
mod page;
mod run;
mod search;
mod simulation;
mod subjects;
mod terminal;
mod text;
mod verdict;
mod watch;

pub use document::Document;
pub use error::Error;
pub use estimate::Estimate;
pub use limit::Limit;
pub use method::{Fact, Source};
pub use model::{
    Capacity, ClassPoint, ClassReading, ClientReading, Duration, ErrorCount, Phase, Phases, Point, Report,
    Requests, Test,
};
pub use run::{
    Distribution, Held, Percentiles, RunReport, SizeField, Step, StepPhase, Steps, Timeline, UrlRow, Urls,
    run,
};
pub use search::{Effect, OneSearch, Published, SearchReport};
pub use simulation::{
    Axis, Check, Course, CourseChart, CourseFigure, CourseLine, Curve, Figure, Mark, OutcomeRow, Place,
    SimulationReport, Unit,
};
pub use verdict::{KeyFigure, Verdict};
pub use watch::{Table, TableRow, TimeFigure, WatchReport};
