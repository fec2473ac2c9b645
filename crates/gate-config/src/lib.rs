//! The configuration of a gate: what its file says, as plain values, and the rules in it.
//!
//! [`settings`] reads the file and says what is wrong with it, with line and mend; [`rules`] find the
//! class of a request; [`dry_run`] says which rule that is and why. Nothing here opens a file of
//! certificates, a socket or a clock: the gate makes of the values what it needs, once, when it starts and when it reads them again.
//! Secrets, tokens and pages that the file names are read with it.

pub mod dry_run;
pub mod rules;
pub mod settings;

pub use settings::root::Settings;
