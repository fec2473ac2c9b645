//! Walking the tree.

use std::path::{Path, PathBuf};
use std::{fs, io};

/// Folders whose content is made, not written; so is that of all whose name begins with a dot.
const SKIPPED: [&str; 4] = ["target", "node_modules", "dist", "runs"];

/// All files below `folder` whose name ends with one of `endings`, in order.
pub(super) fn below(folder: &Path, endings: &[&str]) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    collect(folder, endings, &mut found)?;
    found.sort();
    Ok(found)
}

fn collect(folder: &Path, endings: &[&str], found: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let kind = entry.file_type()?;
        if kind.is_dir() && !name.starts_with('.') && !SKIPPED.contains(&&*name) {
            collect(&entry.path(), endings, found)?;
        } else if kind.is_file() && endings.iter().any(|ending| name.ends_with(ending)) {
            found.push(entry.path());
        }
    }
    Ok(())
}

/// `path` relative to `root`, as complaints show it.
pub(super) fn relative(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}
