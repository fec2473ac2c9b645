//! What programs in the kernel need: the layout of the kernel's types and variables, a place to be loaded at,
//! clocks, places in binaries, and how often they have run.

#[macro_use]
mod skeleton;

pub(crate) mod clock;
pub(crate) mod code;
pub(crate) mod go_table;
pub(crate) mod layout;
pub(crate) mod programs;
pub(crate) mod runs;
