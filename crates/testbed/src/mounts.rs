//! Where control groups are mounted.

use std::fs;
use std::path::PathBuf;

/// All places that control groups can be in, of either version.
pub(crate) fn control_groups() -> Vec<PathBuf> {
    let mounts = fs::read_to_string("/proc/mounts").unwrap_or_default();
    ["cgroup", "cgroup2"].iter().flat_map(|kind| mounted(&mounts, kind)).map(|(root, _)| root).collect()
}

/// Mount points and options of file systems of a kind (proc_pid_mounts(5)).
pub(crate) fn mounted<'a>(mounts: &'a str, kind: &'a str) -> impl Iterator<Item = (PathBuf, &'a str)> {
    mounts.lines().filter_map(move |line| {
        let mut words = line.split(' ');
        let (_, place, found, options) = (words.next()?, words.next()?, words.next()?, words.next()?);
        (found == kind).then(|| (PathBuf::from(place), options))
    })
}
