//! [`Sample`]: what the kernel as a whole has done, at one moment.

use units::Span;

/// Sums since the machine was started, those of [`Sample::reads`] to [`Sample::blocks_written`] and of the
/// two kinds of interrupts since any moment before the first sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sample {
    /// Since the machine was started.
    pub uptime: Span,
    /// Processors.
    pub processors: u32,
    /// Processor time in user mode, at any priority, guests included.
    pub user: Span,
    /// In the kernel, without interrupts.
    pub system: Span,
    /// In interrupts.
    pub interrupt: Span,
    /// In what interrupts leave to be done later.
    pub soft_interrupt: Span,
    /// Taken by the hypervisor.
    pub stolen: Span,
    /// With nothing to do.
    pub idle: Span,
    /// With nothing to do but to wait for a disk.
    pub io_wait: Span,
    /// Requests to disks, read.
    pub reads: u64,
    /// And written.
    pub writes: u64,
    /// Blocks of 512 bytes.
    pub blocks_read: u64,
    /// Blocks of 512 bytes.
    pub blocks_written: u64,
    /// KiB that were paged in from disks.
    pub paged_in: u64,
    /// KiB that were paged out.
    pub paged_out: u64,
    /// Page faults that needed a disk.
    pub major_faults: u64,
    /// Interrupts of all kinds.
    pub interrupts: u64,
    /// Of network devices.
    pub network_interrupts: u64,
    /// Of disks.
    pub disk_interrupts: u64,
    /// Changes from one task to another.
    pub context_switches: u64,
    /// Tasks that run or wait for a processor, now.
    pub running: u32,
}
