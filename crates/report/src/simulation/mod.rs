//! The simulator: what came out of a single simulation, or along the curves of sweeps, and whether it
//! is what a paper says.

mod charts;
mod checks;
mod model;
mod paper;
mod read;
mod single;
mod terminal;

pub use model::{
    Axis, Check, Course, CourseChart, CourseFigure, CourseLine, Curve, Figure, Mark, OutcomeRow, Place,
    SimulationReport, Unit,
};
