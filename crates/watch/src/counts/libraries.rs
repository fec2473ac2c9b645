//! The files whose code a process runs: its program and its libraries.

use std::path::PathBuf;

use procfs::process::{MMPermissions, MMapPath, Process};

/// A file, by device (major and minor) and inode.
pub(super) type Library = (i32, i32, u64);

/// Those of a process, each with a path under which it can be opened also when the process sees other files, or the
/// file has been replaced; none when the process is gone.
pub(super) fn of_process(process: u32) -> Vec<(Library, PathBuf)> {
    let Ok(maps) = Process::new(process.cast_signed()).and_then(|process| process.maps()) else {
        return Vec::new();
    };
    let mut files: Vec<(Library, PathBuf)> = Vec::new();
    for map in maps {
        let is_code = map.perms.contains(MMPermissions::EXECUTE) && matches!(map.pathname, MMapPath::Path(_));
        let file = (map.dev.0, map.dev.1, map.inode);
        if is_code && !files.iter().any(|(known, _)| *known == file) {
            let (from, to) = map.address;
            files.push((file, PathBuf::from(format!("/proc/{process}/map_files/{from:x}-{to:x}"))));
        }
    }
    files
}
