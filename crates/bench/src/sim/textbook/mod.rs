//! Queues of the textbook, of which the mean is known: what simulators and solvers say of them, side by side.

pub(super) mod answer;
mod queue;
mod solver;
pub(super) mod table;
