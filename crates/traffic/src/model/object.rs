//! [`Object`]: a file on the server.

use std::sync::Arc;

/// A file on the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    /// Its path from the root of the server; each object of a model has its own.
    pub url: Arc<str>,
    /// Bytes.
    pub length: u64,
    /// What kind of object it is, for reports that tell kinds apart.
    pub group: Arc<str>,
}
