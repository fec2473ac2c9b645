//! [`Proc`]: from `/proc`, and which interrupt is of what.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use procfs::{FromBufRead as _, FromBufReadSI as _, KernelStats, VmStat};
use units::Span;

use super::sample::Sample;
use crate::clock::uptime;
use crate::{Error, Source};

/// Reads `/proc/stat`, `/proc/vmstat`, `/proc/diskstats` and `/proc/interrupts`.
#[derive(Debug, Default)]
pub struct Proc {
    /// Of every interrupt that there was when last looked for.
    kinds: BTreeMap<usize, Kind>,
}

impl Source for Proc {
    type Sample = Sample;

    fn sample(&mut self) -> Result<Sample, Error> {
        let (system, uptime) = (procfs::current_system_info(), uptime());
        let text = fs::read("/proc/stat").map_err(procfs::ProcError::from)?;
        let stat = KernelStats::from_buf_read(text.as_slice(), system)?;
        let VmStat(paging) =
            VmStat::from_buf_read(fs::read("/proc/vmstat").map_err(procfs::ProcError::from)?.as_slice())?;
        let disks = procfs::diskstats()?;
        let [_, network_interrupts, disk_interrupts] = self.interrupts();
        let total = &stat.total;
        let time = |ticks: u64| Span::from_secs_f64(ticks as f64 / system.ticks_per_second() as f64);
        let page = |name: &str| paging.get(name).map_or(0, |value| value.unsigned_abs());
        let mut sample = Sample {
            uptime,
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

/// The first number of the line `intr`.
fn all_interrupts(stat: &[u8]) -> u64 {
    let mut lines = stat.split(|byte| *byte == b'\n');
    let line = lines.find_map(|line| line.strip_prefix(b"intr "));
    let number = line.and_then(|line| line.split(|byte| *byte == b' ').next());
    number.and_then(|number| std::str::from_utf8(number).ok()?.parse().ok()).unwrap_or(0)
}

/// Whether it is a disk that requests are made to, neither a part of one nor one made of others.
fn is_whole(name: &str) -> bool {
    const MADE_OF_OTHERS: [&str; 5] = ["dm-", "loop", "md", "ram", "zram"];
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

/// Interrupts of network devices and disks, by number.
pub(super) fn interrupt_kinds() -> BTreeMap<usize, Kind> {
    let mut kinds = BTreeMap::new();
    for (devices, kind) in [("/sys/class/net", Kind::Network), ("/sys/block", Kind::Disk)] {
        let entries = fs::read_dir(devices).into_iter().flatten().flatten();
        let paths = entries.filter_map(|entry| entry.path().join("device").canonicalize().ok());
        kinds.extend(paths.flat_map(|device| interrupts_of(&device)).map(|irq| (irq, kind)));
    }
    kinds
}

/// The interrupts of a device, or of the nearest one on the way to it that has any: a disk has none of its
/// own, its controller has them.
fn interrupts_of(device: &Path) -> Vec<usize> {
    let number = |text: &str| text.trim().parse().ok().filter(|irq| *irq > 0);
    for at in device.ancestors().take_while(|at| at.starts_with("/sys/devices/")) {
        let messages = fs::read_dir(at.join("msi_irqs")).into_iter().flatten().flatten();
        let messages = messages.filter_map(|entry| number(entry.file_name().to_str()?));
        let line = fs::read_to_string(at.join("irq")).ok();
        let found: Vec<usize> = messages.chain(line.and_then(|text| number(&text))).collect();
        if !found.is_empty() {
            return found;
        }
    }
    Vec::new()
}

impl Proc {
    /// How many there have been of each kind.
    fn interrupts(&mut self) -> [u64; 3] {
        let text = fs::read_to_string("/proc/interrupts").unwrap_or_default();
        let counts: Vec<_> = text.lines().skip(1).filter_map(numbered).collect();
        if counts.iter().any(|(irq, _)| !self.kinds.contains_key(irq)) {
            self.kinds = counts.iter().map(|(irq, _)| (*irq, Kind::Other)).collect();
            self.kinds.extend(interrupt_kinds());
        }
        let mut sums = [0; 3];
        for (irq, count) in counts {
            sums[self.kinds[&irq] as usize] += count;
        }
        sums
    }
}

/// Number, and count on all processors, of a line such as ` 36:  0  7  PCI-MSIX-0000:00:02.0  1-edge  virtio1-req.0`.
fn numbered(line: &str) -> Option<(usize, u64)> {
    let (number, rest) = line.split_once(':')?;
    let counts = rest.split_whitespace().map_while(|word| word.parse::<u64>().ok());
    Some((number.trim().parse().ok()?, counts.sum()))
}
