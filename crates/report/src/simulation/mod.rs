//! Sweeps of the simulator: what came out along their curves, and whether it is what a paper says.

mod charts;
mod checks;
mod model;
mod paper;
mod read;
mod terminal;

pub use model::{Axis, Check, Curve, Figure, Place, SimulationReport, Unit};
