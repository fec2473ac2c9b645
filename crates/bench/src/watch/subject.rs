//! [`Subject`]: what is watched.

use serde::Serialize;

use crate::servers::site::Content;

/// The file that is asked for, in bytes.
pub(super) const SIZE: usize = 1024;

/// What is watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(super) enum Subject {
    /// Apache with a process for each connection.
    Apache,
    /// nginx with one process.
    Nginx,
}

impl Subject {
    pub(super) const ALL: [Self; 2] = [Self::Apache, Self::Nginx];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Apache => "apache2",
            Self::Nginx => "nginx",
        }
    }

    pub(super) fn content(self) -> Content<'static> {
        match self {
            Self::Apache => Content::Apache,
            Self::Nginx => Content::Nginx,
        }
    }
}
