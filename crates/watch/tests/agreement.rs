//! Programs in the kernel and `/proc` say the same.
#![allow(clippy::expect_used, reason = "a test fails by panicking")]

use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

use watch::{Source, kernel, network, processes};

/// Figures by name, as eBPF and as `/proc` has them, and by how much they may differ if one per cent is less.
type Compared = Vec<(&'static str, f64, f64, f64)>;

/// The two are read one after the other, and whoever is preempted between reads later than he thinks: such a
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

fn burn(length: Duration) {
    let began = Instant::now();
    while began.elapsed() < length {
        std::hint::black_box(fs::read("/proc/self/stat").ok());
    }
}

#[test]
fn the_kernel() {
    let mut traced = kernel::Traced::open().expect("this runs as root on a kernel with BTF");
    let mut proc = kernel::Proc;
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
        ]
    });
}

/// What is written and synchronised goes to the disk at once.
#[test]
fn disks() {
    let place = tempfile::tempdir().expect("a directory");
    let mut traced = kernel::Traced::open().expect("this runs as root on a kernel with BTF");
    let mut proc = kernel::Proc;
    agree(|| {
        let before = (traced.sample().expect("eBPF"), proc.sample().expect("/proc"));
        for _ in 0..4 {
            let file = fs::File::create(place.path().join("file")).expect("a file");
            std::io::Write::write_all(&mut &file, &vec![7; 1 << 20]).expect("room");
            file.sync_all().expect("a disk");
        }
        let after = (traced.sample().expect("eBPF"), proc.sample().expect("/proc"));
        let (traced, proc) = (kernel::rates(&before.0, &after.0), kernel::rates(&before.1, &after.1));
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

/// What a process has used stays in the sum when it has ended; `/proc` has lost it by then.
#[test]
fn what_has_ended_still_counts() {
    let mut traced = processes::Traced::open(&["dd"]).expect("this runs as root on a kernel with BTF");
    let before = traced.sample().expect("eBPF");
    let copied = std::process::Command::new("dd")
        .args(["if=/dev/zero", "of=/dev/null", "bs=1M", "count=4000", "status=none"])
        .status()
        .expect("dd");
    assert!(copied.success());
    let after = traced.sample().expect("eBPF");
    assert_eq!(after.programs[0].processes, 0);
    let used = after.programs[0].cpu.saturating_sub(before.programs[0].cpu);
    assert!(used.as_secs_f64() > 0.01, "{used} for 4 GB");
}

/// What is sent to ourselves comes in as well, headers included.
#[test]
fn the_network() {
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").expect("a port");
    let before = network::Proc.sample().expect("/proc");
    let to = socket.local_addr().expect("it is bound");
    for _ in 0..100 {
        socket.send_to(&[0; 1000], to).expect("room");
    }
    let after = network::Proc.sample().expect("/proc");
    let seconds = after.uptime.saturating_sub(before.uptime).as_secs_f64();
    let (_, own) = network::rates(&before, &after).find(|(name, _)| name == "lo").expect("it is up");
    assert!(own.received_bytes * seconds >= 100.0 * 1028.0, "{own:?}");
    assert!(own.sent_packets * seconds >= 100.0 - 1e-6, "{own:?}");
}
