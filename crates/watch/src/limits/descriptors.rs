//! Which sockets processes have.

use std::collections::BTreeSet;
use std::{fs, io};

use rustix::io::Errno;

/// The numbers of the sockets that a process has (proc_pid_fd(5)), if it lets them be seen; none if it has ended.
pub(super) fn sockets_of(pid: i32) -> Option<BTreeSet<u64>> {
    let is_gone = |why: &io::Error| {
        why.kind() == io::ErrorKind::NotFound || why.raw_os_error() == Some(Errno::SRCH.raw_os_error())
    };
    let open = match fs::read_dir(format!("/proc/{pid}/fd")) {
        Ok(open) => open,
        Err(why) => return is_gone(&why).then(BTreeSet::new),
    };
    let mut sockets = BTreeSet::new();
    for open in open.filter_map(Result::ok) {
        match fs::read_link(open.path()) {
            Ok(link) => sockets.extend(link.to_str().and_then(inode)),
            Err(why) if is_gone(&why) => {}
            Err(_) => return None,
        }
    }
    Some(sockets)
}

/// Of a link as in `socket:[4711]`.
pub(super) fn inode(link: &str) -> Option<u64> {
    link.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sockets_are_told_from_other_descriptors() {
        let links = ["socket:[4711]", "pipe:[4711]", "/dev/null", "socket:[]"].map(inode);
        assert_eq!(links, [Some(4711), None, None, None]);
        assert_eq!(sockets_of(i32::MAX), Some(BTreeSet::new()), "it has ended");
    }
}
