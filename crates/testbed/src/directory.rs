//! Directories of programs that are started.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use tempfile::TempDir;

use crate::error::Error;
use crate::leftovers;

/// A directory for a program's own files, removed when dropped. All users can enter it, since a
/// server that root starts may serve as one of them.
///
/// # Errors
/// When the system's temporary directory takes no more.
pub fn directory() -> Result<TempDir, Error> {
    tempfile::Builder::new()
        .prefix(&leftovers::mine())
        .permissions(fs::Permissions::from_mode(0o755))
        .tempdir()
        .map_err(Error::io("create a directory in", &std::env::temp_dir()))
}
