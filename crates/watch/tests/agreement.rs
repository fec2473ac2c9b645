//! Programs in the kernel and `/proc` agree.
#![allow(clippy::expect_used, reason = "a test fails by panicking")]

use std::fs;
use std::net::TcpStream;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use watch::{Source, connections, kernel, network, processes};

/// Figures by name, as eBPF and as `/proc` has them, and by how much they may differ if one per cent is less.
type Compared = Vec<(&'static str, f64, f64, f64)>;

/// The two are read one after the other, and a reader that is preempted between them reads the second too late: such a
/// comparison says nothing, so one of several has to hold.
fn agree(mut compare: impl FnMut() -> Compared) {
    const ATTEMPTS: usize = 8;
    let apart = |compared: Compared| {
        let is_apart = |&(_, traced, proc, apart): &(_, f64, f64, f64)| {
            (traced - proc).abs() > (0.01 * f64::max(traced, proc)).max(apart)
        };
        compared.into_iter().filter(is_apart).collect::<Vec<_>>()
    };
    let mut last = Vec::new();
    let agreed = (0..ATTEMPTS).any(|_| {
        last = apart(compare());
        last.is_empty()
    });
    assert!(agreed, "name, eBPF, /proc, allowed: {last:?}");
}

/// Whether programs may be loaded.
fn is_able() -> bool {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        testkit::skip(&"only root may load programs");
    }
    is_root
}

fn burn(length: Duration) {
    let began = Instant::now();
    while began.elapsed() < length {
        std::hint::black_box(fs::read("/proc/self/stat").ok());
    }
}

#[test]
fn the_kernel() {
    if !is_able() {
        return;
    }
    let mut traced = kernel::Traced::open().expect("this runs as root on a kernel with BTF");
    let mut proc = kernel::Proc::default();
    agree(|| {
        let before = (traced.sample().expect("eBPF"), proc.sample().expect("/proc"));
        burn(Duration::from_millis(500));
        sleep(Duration::from_millis(500));
        let after = (traced.sample().expect("eBPF"), proc.sample().expect("/proc"));
        let (traced, proc) = (kernel::rates(&before.0, &after.0), kernel::rates(&before.1, &after.1));
        vec![
            ("user", traced.cpu_user, proc.cpu_user, 0.005),
            ("system", traced.cpu_system, proc.cpu_system, 0.005),
            ("idle", traced.cpu_idle, proc.cpu_idle, 0.01),
            ("waiting for disks", traced.cpu_io_wait, proc.cpu_io_wait, 0.01),
            ("context switches", traced.context_switches, proc.context_switches, 50.0),
            ("interrupts", traced.interrupts, proc.interrupts, 50.0),
            ("of the network", traced.network_interrupts, proc.network_interrupts, 5.0),
            ("of disks", traced.disk_interrupts, proc.disk_interrupts, 5.0),
            ("interrupted", traced.cpu_soft_interrupt, proc.cpu_soft_interrupt, 0.005),
            ("stolen", traced.cpu_stolen, proc.cpu_stolen, 0.005),
        ]
    });
}

/// Whether files of a directory are on no disk.
fn is_in_memory(place: &std::path::Path) -> bool {
    const TMPFS_MAGIC: i64 = 0x0102_1994;
    rustix::fs::statfs(place).is_ok_and(|found| found.f_type == TMPFS_MAGIC)
}

/// What is written and synchronised goes to the disk at once.
#[test]
fn disks() {
    if !is_able() {
        return;
    }
    let place = tempfile::tempdir().expect("a directory");
    let mut traced = kernel::Traced::open().expect("this runs as root on a kernel with BTF");
    let mut proc = kernel::Proc::default();
    agree(|| {
        let before = (traced.sample().expect("eBPF"), proc.sample().expect("/proc"));
        for _ in 0..4 {
            let file = fs::File::create(place.path().join("file")).expect("a file");
            std::io::Write::write_all(&mut &file, &vec![7; 1 << 20]).expect("room");
            file.sync_all().expect("a disk");
        }
        let after = (traced.sample().expect("eBPF"), proc.sample().expect("/proc"));
        let (traced, proc) = (kernel::rates(&before.0, &after.0), kernel::rates(&before.1, &after.1));
        assert!(proc.blocks_written > 0.0 || is_in_memory(place.path()), "{proc:?}");
        vec![
            ("writes", traced.writes, proc.writes, 5.0),
            ("blocks", traced.blocks_written, proc.blocks_written, 100.0),
            ("paged out", traced.paged_out, proc.paged_out, 50.0),
        ]
    });
}

/// Bytes of our own memory, as `/proc/PID/status` has it.
fn resident() -> f64 {
    let text = fs::read_to_string("/proc/self/status").expect("our status");
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a size");
    let kib = line.split_whitespace().next().and_then(|word| word.parse().ok());
    1024.0 * kib.unwrap_or(f64::NAN)
}

#[test]
fn processes() {
    if !is_able() {
        return;
    }
    let own = fs::read_to_string("/proc/self/comm").expect("our name").trim().to_owned();
    let mut traced = processes::Traced::open(&[&own]).expect("this runs as root on a kernel with BTF");
    let mut proc = processes::Proc::open(&[&own]);
    agree(|| {
        let before = (traced.sample().expect("eBPF"), proc.sample().expect("/proc"));
        burn(Duration::from_millis(700));
        let after = (traced.sample().expect("eBPF"), proc.sample().expect("/proc"));
        let rates = |before, after| processes::rates(before, after).next().expect("a program");
        let (traced, proc) = (rates(&before.0, &after.0), rates(&before.1, &after.1));
        vec![
            // `/proc` counts in hundredths of a second.
            ("cpu", traced.cpu, proc.cpu, 0.03),
            // What `/proc/PID/stat` says is not exact: proc_pid_stat(5).
            ("memory", traced.memory as f64, resident(), 65_536.0),
            ("processes", f64::from(traced.processes), f64::from(proc.processes), 0.0),
            ("threads", f64::from(traced.threads), f64::from(proc.threads), 0.0),
        ]
    });
}

/// Processes that live for a millisecond count with all that they have used, and what they all used together
/// never goes back.
#[test]
fn short_lives_count_and_sums_only_grow() {
    if !is_able() {
        return;
    }
    let place = tempfile::tempdir().expect("a directory");
    // A name that no other process has.
    let program = place.path().join("headworks-brief");
    fs::copy("/bin/true", &program).expect("a program");
    let mut traced =
        processes::Traced::open(&["headworks-brief"]).expect("this runs as root on a kernel with BTF");
    // One round in fifteen or so lacks some milliseconds, which is not explained: two of three have to agree.
    let mut off: Vec<f64> = (0..3).map(|_| off_by(&program, &mut traced)).collect();
    off.sort_by(f64::total_cmp);
    // Before they are this program they are ours: the time from fork(2) to execve(2) has another name, but the
    // sum of a task is not divided.
    assert!(off[1].abs() <= NEAR, "eBPF, over wait4(2): {off:?}");
}

/// How near what is counted of processes that end has to be to what wait4(2) says, as a share.
const NEAR: f64 = 0.02;

/// By which share what is counted of a number of short processes is more than wait4(2) says.
fn off_by(program: &std::path::Path, traced: &mut processes::Traced) -> f64 {
    let first = traced.sample().expect("eBPF").programs[0];
    let before = children();
    let mut last = first;
    for _ in 0..300 {
        assert!(Command::new(program).status().expect("it runs").success());
        let now = traced.sample().expect("eBPF").programs[0];
        assert!(now.cpu >= last.cpu, "{now:?} after {last:?}");
        last = now;
    }
    let used = children() - before;
    // The kernel forgets a process a moment after its parent has asked for it.
    let mut counted =
        || (traced.sample().expect("eBPF").programs[0].cpu.saturating_sub(first.cpu)).as_secs_f64();
    let deadline = Instant::now() + Duration::from_secs(3);
    while (counted() - used).abs() > NEAR * used && Instant::now() < deadline {
        sleep(Duration::from_millis(20));
    }
    counted() / used - 1.0
}

/// Processor time of children that have ended, in seconds.
fn children() -> f64 {
    let usage = nix::sys::resource::getrusage(nix::sys::resource::UsageWho::RUSAGE_CHILDREN).expect("usage");
    let seconds = |time: nix::sys::time::TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 * 1e-6;
    seconds(usage.user_time()) + seconds(usage.system_time())
}

/// What is sent to ourselves comes in as well, headers included.
#[test]
fn the_network() {
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").expect("a port");
    let before = network::Proc::default().sample().expect("/proc");
    let to = socket.local_addr().expect("it is bound");
    for _ in 0..100 {
        socket.send_to(&[0; 1000], to).expect("room");
    }
    let after = network::Proc::default().sample().expect("/proc");
    let seconds = after.uptime.saturating_sub(before.uptime).as_secs_f64();
    let (_, own) = network::rates(&before, &after).find(|(name, _)| name == "lo").expect("it is up");
    assert!(own.received_bytes * seconds >= 100.0 * 1028.0 - 1e-3, "{own:?}");
    assert!(own.sent_packets * seconds >= 100.0 - 1e-6, "{own:?}");
}

/// Forty connections, of which some are accepted, some closed by us and some by the other side.
#[test]
fn connections_and_who_waits_to_be_accepted() {
    if !is_able() {
        return;
    }
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("it is bound");
    let mut traced = connections::Traced::open(&[1, address.port()]).expect("this runs as root with BTF");
    let mut proc = connections::Proc::open(&[1, address.port()]);
    let clients: Vec<_> = (0..40).map(|_| TcpStream::connect(address).expect("it listens")).collect();
    let mut accepted: Vec<_> = (0..30).map(|_| listener.accept().expect("they wait").0).collect();
    // TIME-WAIT after FIN-WAIT-2 is here, on the side that closes first.
    accepted.truncate(20);
    let mut clients = clients.into_iter();
    let gone: Vec<_> = clients.by_ref().take(5).collect();
    drop(gone);
    let left: Vec<_> = clients.collect();
    let looked = |traced: &mut connections::Traced| traced.sample().expect("eBPF").ports;
    let deadline = Instant::now() + Duration::from_secs(10);
    let mut sample = looked(&mut traced);
    // Who closes waits for the other side to have noticed.
    while sample[1].states[3] > 0 && Instant::now() < deadline {
        sleep(Duration::from_millis(10));
        sample = looked(&mut traced);
    }
    let expected = proc.sample().expect("/proc").ports;
    assert_eq!(sample[0].states, expected[0].states);
    let named = |port: &connections::Port| {
        let states = connections::STATES.iter().zip(port.states);
        states.filter(|(_, count)| *count > 0).map(|(name, count)| (*name, count)).collect::<Vec<_>>()
    };
    assert_eq!(named(&sample[1]), named(&expected[1]));
    let states: std::collections::BTreeMap<_, _> = named(&sample[1]).into_iter().collect();
    assert_eq!((states["LISTEN"], states["CLOSE-WAIT"], states["FIN-WAIT-2"]), (1, 5, 10), "{states:?}");
    assert_eq!(states["ESTAB"], 25, "of which ten wait: {states:?}");
    assert_eq!((sample[1].waiting, expected[1].waiting), (10, 10));
    assert_eq!(sample[1].room, Some(128), "what the standard library asks for");
    drop(left);
}
