//! [`Threads`]: what threads wait for, by the function of the kernel in which they sleep (proc_pid_wchan(5)).

use std::fs;

use serde::Serialize;

/// Threads by what they do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Threads {
    /// Run, or wait for a processor.
    pub running: u32,
    /// Wait for a disk, or for memory that has to be freed.
    pub disk: u32,
    /// Wait for each other: a futex, a lock on a file, a semaphore.
    pub lock: u32,
    /// Wait for something to happen on any of several descriptors, for a new connection, or for a signal.
    pub event: u32,
    /// Wait for the other end of one connection: to be sent something, or until it has taken what was sent.
    pub peer: u32,
    /// Sleep for a time.
    pub sleep: u32,
    /// Wait for something else, or for what the kernel does not tell.
    pub other: u32,
}

/// What a thread waits for; see [`Threads`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "as in `Threads`")]
pub enum Wait {
    Disk,
    Lock,
    Event,
    Peer,
    Sleep,
    Other,
}

/// Beginnings or parts of names of functions, Linux 5.10 to 6.18. The first that fits counts.
const FUNCTIONS: [(&str, Wait); 41] = [
    ("futex", Wait::Lock),
    ("flock", Wait::Lock),
    ("locks_lock_inode_wait", Wait::Lock),
    ("posix_lock", Wait::Lock),
    ("fcntl_setlk", Wait::Lock),
    ("semtimedop", Wait::Lock),
    ("mutex", Wait::Lock),
    ("rwsem", Wait::Lock),
    ("pipe", Wait::Lock),
    ("ep_poll", Wait::Event),
    ("epoll", Wait::Event),
    ("do_poll", Wait::Event),
    ("sys_poll", Wait::Event),
    ("poll_schedule_timeout", Wait::Event),
    ("do_select", Wait::Event),
    ("io_cqring_wait", Wait::Event),
    ("csk_accept", Wait::Event),
    ("csk_wait_for_connect", Wait::Event),
    ("unix_wait_for_peer", Wait::Event),
    ("sigtimedwait", Wait::Event),
    ("sigsuspend", Wait::Event),
    ("do_wait", Wait::Event),
    ("sk_wait_data", Wait::Peer),
    ("wait_woken", Wait::Peer),
    ("stream_data_wait", Wait::Peer),
    ("wait_for_more_packets", Wait::Peer),
    ("stream_read_generic", Wait::Peer),
    ("tcp_recvmsg", Wait::Peer),
    ("stream_wait_memory", Wait::Peer),
    ("stream_wait_connect", Wait::Peer),
    ("sock_alloc_send", Wait::Peer),
    ("inet_wait_for_connect", Wait::Peer),
    ("nanosleep", Wait::Sleep),
    ("io_schedule", Wait::Disk),
    ("folio_wait", Wait::Disk),
    ("wait_on_page", Wait::Disk),
    ("wait_on_buffer", Wait::Disk),
    ("jbd2", Wait::Disk),
    ("blk_", Wait::Disk),
    ("balance_dirty_pages", Wait::Disk),
    ("direct_reclaim", Wait::Disk),
];

impl Wait {
    /// What a thread in this state (proc_pid_stat(5)) waits for in this function.
    fn of(state: char, function: &str) -> Self {
        let named = FUNCTIONS.iter().find(|(part, _)| function.contains(part));
        // What cannot be interrupted by a signal is, but for locks of the kernel, a disk.
        named.map_or(if state == 'D' { Self::Disk } else { Self::Other }, |(_, wait)| *wait)
    }
}

impl Threads {
    /// Adds all threads of a process. One that has ended meanwhile is left out.
    pub(super) fn add(&mut self, pid: i32) {
        let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else { return };
        for task in tasks.filter_map(Result::ok) {
            let Ok(stat) = fs::read_to_string(task.path().join("stat")) else { continue };
            let Some(state) = state(&stat) else { continue };
            if state == 'R' {
                self.running += 1;
                continue;
            }
            let function = fs::read_to_string(task.path().join("wchan")).unwrap_or_default();
            *match Wait::of(state, &function) {
                Wait::Disk => &mut self.disk,
                Wait::Lock => &mut self.lock,
                Wait::Event => &mut self.event,
                Wait::Peer => &mut self.peer,
                Wait::Sleep => &mut self.sleep,
                Wait::Other => &mut self.other,
            } += 1;
        }
    }
}

/// Behind the name, which may hold anything.
fn state(stat: &str) -> Option<char> {
    stat.rsplit_once(") ")?.1.chars().next()
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::TcpListener;
    use std::sync::mpsc;
    use std::time::Duration;
    use std::{process, thread};

    use super::*;

    #[test]
    fn functions_of_the_kernel_are_told_apart() {
        for (state, function, wait) in [
            ('S', "futex_do_wait", Wait::Lock),
            ('S', "ep_poll", Wait::Event),
            ('S', "inet_csk_accept", Wait::Event),
            ('D', "folio_wait_bit_common", Wait::Disk),
            ('D', "some_file_system_function", Wait::Disk),
            ('D', "rwsem_down_write_slowpath", Wait::Lock),
            ('S', "hrtimer_nanosleep", Wait::Sleep),
            ('S', "sk_wait_data", Wait::Peer),
            ('S', "0", Wait::Other),
        ] {
            assert_eq!(Wait::of(state, function), wait, "{state} {function}");
        }
        assert_eq!(state("7 (a) b (c) S 1 2"), Some('S'));
        assert_eq!(state("7"), None);
    }

    /// Real ones, of this process.
    #[test]
    fn threads_are_seen_where_they_wait() {
        if fs::read_to_string("/proc/self/wchan").is_err() {
            testkit::skip_here(&"this kernel does not tell where threads sleep");
            return;
        }
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (_sender, receiver) = mpsc::channel::<()>();
        // They end with the test.
        thread::spawn(move || receiver.recv());
        thread::spawn(move || {
            let stream = std::net::TcpStream::connect(address);
            let _ = stream.unwrap().read(&mut [0]);
        });
        let _connection = listener.accept().unwrap();
        thread::spawn(move || listener.accept());
        thread::spawn(|| thread::sleep(Duration::from_secs(60)));
        testkit::poll_until(testkit::PATIENCE, "all of them to wait", || {
            let mut threads = Threads::default();
            threads.add(i32::try_from(process::id()).unwrap());
            let waits = [threads.lock, threads.peer, threads.event, threads.sleep];
            waits.iter().all(|count| *count >= 1).then_some(())
        });
    }
}
