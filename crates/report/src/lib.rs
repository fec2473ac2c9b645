//! The directory of an experiment or of a run to one self-contained HTML file and a terminal table.
//!
//! Nothing is measured or kept here: everything is derived from the record, each time anew.
//! [`ExperimentReport::read`] derives the figures of an experiment and [`RunReport::read`] those of a run of
//! the load generator; both are put into the page that `web/` builds, and shown on a terminal.
//! [`SimulationReport::read`] derives those of the simulator and its sweeps, [`WatchReport::read`] those of the
//! monitor, [`SearchReport::read`] those of searches for the capacity. [`Document`] is whichever of the five a directory
//! holds.

mod cell;
mod conclusion;
mod document;
mod error;
mod experiment;
mod files;
mod limit;
mod method;
mod page;
mod plot;
mod run;
mod search;
mod simulation;
mod table;
mod terminal;
mod text;
#[cfg(test)]
mod typescript;
mod unit;
mod watch;

pub use cell::{Cell, Quantity};
pub use conclusion::{Conclusion, KeyFigure};
pub use document::{Document, run};
pub use error::Error;
pub use experiment::model::{
    Capacity, ClassPoint, ClassReading, ClientReading, Duration, ErrorCount, ExperimentReport, Phase, Phases,
    Point, Requests, Test,
};
pub use limit::Limit;
pub use method::fact::{Fact, Source};
pub use plot::{Axis, Curve, Figure, Mark, PlotPoint, TimeChart, TimeFigure, TimeSeries};
pub use run::model::{
    Counted, Distribution, Held, Percentiles, PhaseName, RunReport, SizeField, Step, StepPhase, Steps,
    Timeline, UrlRow, Urls,
};
pub use search::effects::{Difference, Effect, Published};
pub use search::model::{OneSearch, SearchReport};
pub use simulation::model::{Check, OutcomeRow, Replication, ReplicationFigure, SimulationReport};
pub use table::{Table, TableRow};
pub use unit::Unit;
pub use watch::model::WatchReport;
