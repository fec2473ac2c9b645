//! Traces: what was asked of a real server, and when.
//!
//! [`AccessLog`] reads the log of a Web server into a [`Trace`]: requests with their times, to
//! be replayed as they came, or faster or slower; [`Format`] says what its lines are where they cannot be recognised. [`Times`] are points in time alone. Logs are
//! full of lines that are not requests; those are counted in [`Skipped`], and never stop a
//! reader.

mod each;
mod entry;
mod error;
mod files;
mod format;
mod line_format;
mod log;
mod logged;
mod objects;
mod read;
mod request;
mod requests;
mod resolution;
mod skipped;
mod stamp;
mod summary;
mod target;
mod times;
mod times_of;

pub use error::Error;
pub use files::is_standard_input;
pub use format::{Format, TemplateError};
pub use line_format::LineFormat;
pub use log::AccessLog;
pub use logged::{LastNumber, Logged};
pub use request::{Body, Method, Object, TraceRequest};
pub use requests::Trace;
pub use resolution::{Resolution, Resolutions, Written};
pub use skipped::{BrokenLine, Reason, Skipped};
pub use summary::Summary;
pub use times::{Repeat, Times};
