//! [`AdviceOptions`]: which settings to try.

use crate::plan::Plan;

/// What to try.
#[derive(Debug, Clone, PartialEq)]
pub struct AdviceOptions {
    /// Numbers of threads; those of [`AdviceOptions::default`] and the model's when it is empty.
    pub threads: Vec<u32>,
    /// Lengths of the queue; likewise.
    pub queues: Vec<u32>,
    /// How much to simulate of each setting.
    pub plan: Plan,
}

impl Default for AdviceOptions {
    fn default() -> Self {
        Self {
            threads: Vec::new(),
            queues: Vec::new(),
            plan: Plan { requests: 50_000, replications: 16, precision: None, ..Plan::default() },
        }
    }
}
