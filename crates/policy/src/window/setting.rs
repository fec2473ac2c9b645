//! [`Window`]: how the number of requests inside the server is bounded.

use crate::error::ConfigError;

/// How the number of requests inside the server is bounded. Without a bound the queue forms
/// inside the server, where it cannot be put in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Window {
    /// Always this many places.
    Fixed(u32),
    /// Sized by how throughput answers to the number of requests inside.
    Adaptive {
        /// Size at the start.
        initial: u32,
        /// Never smaller; at least 1.
        min: u32,
        /// Never larger.
        max: u32,
    },
}

impl Default for Window {
    fn default() -> Self {
        Self::Adaptive { initial: 8, min: 1, max: 256 }
    }
}

impl Window {
    pub(crate) fn check(self) -> Result<(), ConfigError> {
        match self {
            Self::Fixed(0) => Err(ConfigError::Zero("the window")),
            Self::Adaptive { initial, min, max } if min < 1 || min > initial || initial > max => {
                Err(ConfigError::Window { min, initial, max })
            }
            _ => Ok(()),
        }
    }

    /// The largest size it can take.
    pub(crate) fn largest(self) -> u32 {
        match self {
            Self::Fixed(size) | Self::Adaptive { max: size, .. } => size,
        }
    }
}
