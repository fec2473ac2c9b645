//! What lies beside a report.

use std::fs;
use std::path::Path;

/// The names of the files in a directory, in order; none when there is no such directory. The
/// report itself is not one of them.
pub(crate) fn names(directory: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let mut names: Vec<String> = entries
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| !name.starts_with("report.html"))
        .collect();
    names.sort();
    names
}
