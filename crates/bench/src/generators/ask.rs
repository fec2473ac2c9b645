//! [`Ask`]: the load that is asked for.

use std::path::Path;

/// What becomes of a connection after a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reuse {
    KeepAlive,
    Close,
}

/// The load asked for.
#[derive(Debug, Clone)]
pub(crate) struct Ask<'a> {
    pub(crate) url: &'a str,
    pub(crate) reuse: Reuse,
    pub(crate) connections: u32,
    pub(crate) seconds: u32,
    /// Where a record goes, if one is written.
    pub(crate) record: &'a Path,
}

#[cfg(test)]
pub(super) fn ask(reuse: Reuse) -> Ask<'static> {
    let (url, record) = ("http://127.0.0.1:8080/1024", Path::new("record"));
    Ask { url, reuse, connections: 64, seconds: 5, record }
}
