//! What a process that was killed could not remove: control groups and temporary directories. Each is named after
//! the process that made it.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::mounts::control_groups as hierarchies;

const PREFIX: &str = "headworks-";
/// How long processes that were killed may take to be gone.
const GONE_TIMEOUT: Duration = Duration::from_secs(2);
const POLL: Duration = Duration::from_millis(5);

/// What names of this process's own begin with: `headworks-NAMESPACE-PID-START-`, since process numbers are those of a
/// PID namespace (pid_namespaces(7)) and come again: with the time in clock ticks since boot at which it began.
pub(crate) fn mine() -> String {
    let id = std::process::id();
    format!("{PREFIX}{}-{id}-{}-", namespace().unwrap_or(0), began(id).unwrap_or(0))
}

/// Removes what processes left that were killed before they could.
pub fn sweep() {
    for hierarchy in hierarchies() {
        left_in(&hierarchy).iter().for_each(|group| remove_group(group));
    }
    for directory in left_in(&std::env::temp_dir()) {
        // It may be another user's.
        let _ = fs::remove_dir_all(directory);
    }
}

/// Removes a control group, and ends what still runs in it, which was started for the test.
pub(crate) fn remove_group(group: &Path) {
    let deadline = Instant::now() + GONE_TIMEOUT;
    let is_in_use = || fs::remove_dir(group).is_err_and(|why| why.kind() == ErrorKind::ResourceBusy);
    while is_in_use() && Instant::now() < deadline {
        let members = fs::read_to_string(group.join("cgroup.procs")).unwrap_or_default();
        let members = members.lines().filter_map(|line| Pid::from_raw(line.trim().parse().ok()?));
        members.for_each(|member| {
            let _ = kill_process(member, Signal::KILL);
        });
        std::thread::sleep(POLL);
    }
}

fn left_in(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let here = namespace();
    let is_left = |name: &str| {
        let mut words = name.strip_prefix(PREFIX)?.splitn(4, '-');
        let mut number = || words.next()?.parse::<u64>().ok();
        let (namespace, id, start) = (number()?, number()?, number()?);
        words.next()?;
        // Whether a process of another namespace is there cannot be seen from here.
        Some(here == Some(namespace) && began(u32::try_from(id).ok()?) != Some(start))
    };
    let left = entries.filter(|entry| entry.file_name().to_str().and_then(is_left).unwrap_or(false));
    left.map(|entry| entry.path()).collect()
}

/// The number of this process's PID namespace.
fn namespace() -> Option<u64> {
    let link = fs::read_link("/proc/self/ns/pid").ok()?;
    link.to_str()?.strip_prefix("pid:[")?.strip_suffix(']')?.parse().ok()
}

/// When a process began, in clock ticks since boot (proc_pid_stat(5), starttime).
fn began(id: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_whitespace().nth(19)?.parse().ok()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// As a process of this name would have left it, whose number is more than any can have.
    pub(crate) fn left_by_another(name: &str) -> String {
        format!("{PREFIX}{}-4194305-1-{name}", namespace().unwrap())
    }

    #[test]
    fn what_no_process_owns_any_more_is_told_from_what_is_in_use() {
        let place = tempfile::tempdir().unwrap();
        let (id, start) = (std::process::id(), began(std::process::id()).unwrap());
        let here = namespace().unwrap();
        let names = [
            format!("{}site", mine()),
            format!("headworks-{here}-{id}-{}-site", start + 1),
            format!("headworks-{here}-4194305-1-server"),
            format!("headworks-{}-4194305-1-server", here + 1),
            "headworks-notes".to_owned(),
            format!("other-{here}-4194305-1-x"),
        ];
        names.iter().for_each(|name| fs::create_dir(place.path().join(name)).unwrap());
        let mut left = left_in(place.path());
        left.sort();
        let mut expected = [&names[1], &names[2]].map(|name| place.path().join(name));
        expected.sort();
        assert_eq!(left, expected);
    }
}
