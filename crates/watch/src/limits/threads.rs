//! [`Threads`]: what threads wait for, by the function of the kernel in which they sleep (proc_pid_wchan(5)); and
//! [`ThreadTime`], how long they ran and were kept from it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Serialize;
use units::Span;

/// Threads by what they do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Threads {
    /// Run, or wait for a processor.
    pub running: u32,
    /// Wait for a disk, or for memory that has to be freed.
    pub disk: u32,
    /// Wait for each other: a futex, a lock on a file, a semaphore.
    pub lock: u32,
    /// Of these, wait at a futex.
    pub futex: u32,
    /// Wait for something to happen on any of several descriptors, for a new connection, or for a signal.
    pub event: u32,
    /// Wait for the other end of one connection: to be sent something, or until it has taken what was sent.
    pub peer: u32,
    /// Sleep for a time.
    pub sleep: u32,
    /// Wait for something else, or for what the kernel does not tell.
    pub other: u32,
}

/// What the scheduler has given a thread since it began (`/proc/PID/task/TID/schedstat`, `kernel/sched/stats.h`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ThreadTime {
    /// The time in which it ran.
    pub ran: Span,
    /// The time in which it was ready to run, and something else ran.
    pub kept_waiting: Span,
    /// Whether its name is that of a thread that collects garbage.
    pub is_collector: bool,
}

/// By the thread's number.
pub type ThreadTimes = BTreeMap<i32, ThreadTime>;

/// Beginnings of the names that runtimes give to threads which collect garbage, as the kernel keeps them: those of
/// HotSpot (serial, parallel, G1, Z, Shenandoah) and of .NET.
const COLLECTORS: [&str; 10] = [
    "GC Thread",
    "ParGC",
    "G1 ",
    "ZWorker",
    "ZDriver",
    "ZDirector",
    "Shenandoah",
    "VM Thread",
    ".NET BGC",
    ".NET SvrGC",
];

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

const FUTEX: &str = "futex";
/// Beginnings or parts of names of functions, Linux 5.10 to 6.18. The first that fits counts.
const FUNCTIONS: [(&str, Wait); 41] = [
    (FUTEX, Wait::Lock),
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
    /// Adds all threads of a process, and to `times` what each was given. One that has ended meanwhile is left out.
    pub(super) fn add(&mut self, pid: i32, times: &mut ThreadTimes) {
        let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else { return };
        for task in tasks.filter_map(Result::ok) {
            let Ok(stat) = fs::read_to_string(task.path().join("stat")) else { continue };
            let Some((name, state)) = name_and_state(&stat) else { continue };
            let number = task.file_name().to_str().and_then(|number| number.parse().ok());
            times.extend(number.zip(time(&task.path(), name)));
            if state == 'R' {
                self.running += 1;
                continue;
            }
            let function = fs::read_to_string(task.path().join("wchan")).unwrap_or_default();
            self.futex += u32::from(function.contains(FUTEX));
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

/// The state is behind the name, which may hold anything.
fn name_and_state(stat: &str) -> Option<(&str, char)> {
    let (before, after) = stat.rsplit_once(") ")?;
    Some((before.split_once('(')?.1, after.chars().next()?))
}

/// Nothing where the kernel does not keep it.
fn time(task: &Path, name: &str) -> Option<ThreadTime> {
    let text = fs::read_to_string(task.join("schedstat")).ok()?;
    let mut nanos = text.split_whitespace().map_while(|word| word.parse().ok()).map(Span::from_nanos);
    let is_collector = COLLECTORS.iter().any(|of_collector| name.starts_with(of_collector));
    Some(ThreadTime { ran: nanos.next()?, kept_waiting: nanos.next()?, is_collector })
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
        assert_eq!(name_and_state("7 (a) b (c) S 1 2"), Some(("a) b (c", 'S')));
        assert_eq!(name_and_state("7"), None);
    }

    /// Real ones: what this process has done so far, and a thread with the name of a collector.
    #[test]
    fn the_time_of_threads_is_told() {
        let (sender, receiver) = mpsc::channel::<()>();
        let (begins, begun) = mpsc::channel::<()>();
        let collector = thread::Builder::new().name("GC Thread#0".to_owned()).spawn(move || {
            begins.send(()).unwrap();
            receiver.recv()
        });
        // It gives itself its name.
        begun.recv().unwrap();
        let mut times = ThreadTimes::new();
        Threads::default().add(i32::try_from(process::id()).unwrap(), &mut times);
        drop(sender);
        collector.unwrap().join().unwrap().unwrap_err();
        if times.is_empty() {
            testkit::skip_here(&"this kernel keeps no statistics of its scheduler");
            return;
        }
        assert!(times.values().any(|time| time.ran > Span::ZERO), "{times:?}");
        assert_eq!(times.values().filter(|time| time.is_collector).count(), 1, "{times:?}");
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
            threads.add(i32::try_from(process::id()).unwrap(), &mut ThreadTimes::new());
            let waits = [threads.lock, threads.futex, threads.peer, threads.event, threads.sleep];
            waits.iter().all(|count| *count >= 1).then_some(())
        });
    }
}
