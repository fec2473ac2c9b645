//! Where programs are.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Where Debian puts servers and tools of the administrator, besides the search path.
const PLACES: [&str; 3] = ["/usr/sbin", "/usr/bin", "/usr/local/sbin"];

/// Where a program is, on the search path or where Debian puts servers.
pub fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(PLACES.map(PathBuf::from))
        .map(|directory| directory.join(name))
        .find(|file| is_program(file))
}

/// Whether it is a file that can be executed.
pub fn is_program(file: &Path) -> bool {
    file.metadata().is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
}
