//! Reads the TOML that people write: gate configurations, workloads, experiment specs.
//!
//! One way to fail for all of them: an [`Error`] that says where (file and line), what is
//! wrong, and how to mend it. Unknown keys are errors with a suggestion, because a setting
//! that is silently ignored costs more than one that is refused.
//!
//! ```
//! #[derive(serde::Deserialize)]
//! #[serde(deny_unknown_fields)]
//! struct Gate { listen: String }
//!
//! let source = config::Source::new("gate.toml", "listn = '127.0.0.1:80'");
//! let error = source.parse::<Gate>().err().map(|e| e.to_string());
//! assert_eq!(
//!     error.as_deref(),
//!     Some("gate.toml:1: unknown key \"listn\"; did you mean \"listen\"?"),
//! );
//! ```

mod error;
mod glob;
mod parse;
pub mod quantity;
mod source;
mod spanned;
mod suggest;

pub use error::{Error, Place};
pub use glob::Glob;
pub use quantity::Quantity;
pub use source::Source;
pub use spanned::Spanned;
pub use suggest::did_you_mean;
