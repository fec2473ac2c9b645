//! [`Proc`]: from `/proc`, and which interrupt is of what.

use std::fs;
use std::path::Path;

use procfs::{FromBufRead as _, FromBufReadSI as _, KernelStats, VmStat};
use units::Span;

use super::Sample;
use crate::{Error, Source};

/// Reads `/proc/stat`, `/proc/vmstat`, `/proc/diskstats` and `/proc/interrupts`.
#[derive(Debug, Default)]
pub struct Proc;

impl Source for Proc {
    type Sample = Sample;

    fn sample(&mut self) -> Result<Sample, Error> {
        let system = procfs::current_system_info();
        let text = fs::read("/proc/stat").map_err(procfs::ProcError::from)?;
        let stat = KernelStats::from_buf_read(text.as_slice(), system)?;
        let VmStat(paging) =
            VmStat::from_buf_read(fs::read("/proc/vmstat").map_err(procfs::ProcError::from)?.as_slice())?;
        let disks = procfs::diskstats()?;
        let [_, network_interrupts, disk_interrupts] = interrupts();
        let total = &stat.total;
        let time = |ticks: u64| Span::from_secs_f64(ticks as f64 / system.ticks_per_second() as f64);
        let page = |name: &str| paging.get(name).map_or(0, |value| value.unsigned_abs());
        let mut sample = Sample {
            uptime: uptime(),
            processors: stat.cpu_time.len() as u32,
            user: time(total.user + total.nice),
            system: time(total.system),
            interrupt: time(total.irq.unwrap_or(0)),
            soft_interrupt: time(total.softirq.unwrap_or(0)),
            stolen: time(total.steal.unwrap_or(0)),
            idle: time(total.idle),
            io_wait: time(total.iowait.unwrap_or(0)),
            paged_in: page("pgpgin"),
            paged_out: page("pgpgout"),
            major_faults: page("pgmajfault"),
            interrupts: all_interrupts(&text),
            network_interrupts,
            disk_interrupts,
            context_switches: stat.ctxt,
            running: stat.procs_running.unwrap_or(0),
            ..Sample::default()
        };
        for disk in disks.iter().filter(|disk| is_whole(&disk.name)) {
            sample.reads += disk.reads;
            sample.writes += disk.writes;
            sample.blocks_read += disk.sectors_read;
            sample.blocks_written += disk.sectors_written;
        }
        Ok(sample)
    }
}

/// Time since the machine was started, suspended or not: the clock that `/proc/uptime` shows in hundredths.
pub(crate) fn uptime() -> Span {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    Span::from_nanos(now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64)
}

/// The first number of the line `intr`.
fn all_interrupts(stat: &[u8]) -> u64 {
    let mut lines = stat.split(|byte| *byte == b'\n');
    let line = lines.find_map(|line| line.strip_prefix(b"intr "));
    let number = line.and_then(|line| line.split(|byte| *byte == b' ').next());
    number.and_then(|number| std::str::from_utf8(number).ok()?.parse().ok()).unwrap_or(0)
}

/// Whether it is a disk that requests are made to, neither a part of one nor one made of others.
fn is_whole(name: &str) -> bool {
    const MADE_OF_OTHERS: [&str; 4] = ["dm-", "md", "ram", "zram"];
    !MADE_OF_OTHERS.iter().any(|start| name.starts_with(start))
        && Path::new("/sys/block").join(name.replace('/', "!")).exists()
}

/// What an interrupt is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Other,
    Network,
    Disk,
}

/// Interrupts of devices, and of what.
pub(super) fn interrupt_kinds() -> Vec<(usize, Kind)> {
    let text = fs::read_to_string("/proc/interrupts").unwrap_or_default();
    text.lines().skip(1).filter_map(|line| numbered(line).map(|(irq, _, kind)| (irq, kind))).collect()
}

/// How many there have been of each kind.
fn interrupts() -> [u64; 3] {
    let text = fs::read_to_string("/proc/interrupts").unwrap_or_default();
    let mut sums = [0; 3];
    for (_, count, kind) in text.lines().skip(1).filter_map(numbered) {
        sums[kind as usize] += count;
    }
    sums
}

/// Number, count on all processors, and kind, of a line such as ` 36:  0  7  PCI-MSIX-0000:00:02.0  1-edge  virtio1-req.0`.
fn numbered(line: &str) -> Option<(usize, u64, Kind)> {
    let (number, rest) = line.split_once(':')?;
    let number = number.trim().parse().ok()?;
    let counts = rest.split_whitespace().map_while(|word| word.parse::<u64>().ok());
    let name = rest.split_whitespace().next_back().unwrap_or_default();
    Some((number, counts.sum(), kind(name)))
}

/// Drivers name their interrupts after the device: `eth0-TxRx-1`, `nvme0q3`, `virtio2-input.0`.
fn kind(name: &str) -> Kind {
    let device = name.split(['-', '@', '.']).next().unwrap_or(name);
    let virtio = Path::new("/sys/bus/virtio/devices").join(device);
    if Path::new("/sys/class/net").join(device).exists() || virtio.join("net").exists() {
        Kind::Network
    } else if virtio.join("block").exists()
        || ["nvme", "ahci", "megaraid", "mpt", "scsi", "ata"].iter().any(|driver| device.starts_with(driver))
    {
        Kind::Disk
    } else {
        Kind::Other
    }
}
