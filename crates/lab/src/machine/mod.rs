//! The machine that all runs on: its processors, and whether it is at rest.

mod pinning;
mod rest;

pub(crate) use pinning::{Pinning, is_program, program};
pub(crate) use rest::settle;
