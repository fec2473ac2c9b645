//! What holds of the codec as a whole.

mod fuzz;
mod requests;
mod responses;
mod targets;
