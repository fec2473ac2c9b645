//! In which order tests are done, and which classes of users have a load of their own.

use schemars::JsonSchema;
use serde::Deserialize;

/// A class whose load is the same at every level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Constant {
    /// Its number in the workload.
    pub(crate) class: usize,
    /// Times the capacity.
    pub(crate) load: f64,
}

/// In which order the tests are done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Order {
    /// Level by level as they stand in the spec, the subjects side by side.
    #[default]
    Given,
    /// Shuffled within each repeat, so that drift of the machine hits all alike.
    Random,
}
