//! [`Sample`]: what the processes of programs have used, at one moment.

use units::Span;

/// All processes of one program, by the name that the kernel knows them by (15 bytes of it).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Program {
    /// Processor time, of those that have ended as well, since any moment before the first sample.
    pub cpu: Span,
    /// Page faults that needed a disk, in the same way.
    pub major_faults: u64,
    /// Resident memory in bytes; what processes share counts for each.
    pub resident: u64,
    /// Processes there are.
    pub processes: u32,
    /// Their threads.
    pub threads: u32,
    /// Of these, those that run or wait for a processor.
    pub running: u32,
}

/// All programs at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sample {
    /// Since the machine was started.
    pub uptime: Span,
    /// In the order in which they were asked for.
    pub programs: Vec<Program>,
}

/// Programs that can be watched at once.
pub const MAX_PROGRAMS: usize = 16;
