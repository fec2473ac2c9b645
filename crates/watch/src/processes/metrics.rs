//! Rates and shares, by the names that they have in the record.

use catalogue::Metric;
use catalogue::watch::processes as metrics;
use serde::Serialize;

use super::sample::Sample;

/// What a program's processes used between two samples. The paper's table 8.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Rates {
    /// Processors in use, by all of its threads together: 1 is one processor all of the time.
    pub cpu: f64,
    /// Resident bytes at the second sample; what processes share counts for each.
    pub memory: u64,
    /// Page faults per second that needed a disk.
    pub major_faults: f64,
    /// Processes at the second sample.
    pub processes: u32,
    /// Their threads.
    pub threads: u32,
    /// Of these, those that ran or waited for a processor.
    pub running: u32,
}

impl Rates {
    /// Its figures.
    pub(crate) fn figures(&self) -> impl Iterator<Item = (Metric, f64)> {
        let figures = [
            (metrics::CPU, self.cpu),
            (metrics::MAJOR_FAULTS, self.major_faults),
            (metrics::MEMORY, self.memory as f64),
            (metrics::PROCESSES, f64::from(self.processes)),
            (metrics::RUNNING, f64::from(self.running)),
            (metrics::THREADS, f64::from(self.threads)),
        ];
        figures.into_iter()
    }
}

/// The rates between two samples of one source, program by program.
pub fn rates(before: &Sample, after: &Sample) -> impl Iterator<Item = Rates> {
    let seconds = after.uptime.saturating_sub(before.uptime).as_secs_f64();
    before.programs.iter().zip(&after.programs).map(move |(before, after)| Rates {
        cpu: after.cpu.saturating_sub(before.cpu).as_secs_f64() / seconds,
        memory: after.resident,
        major_faults: after.major_faults.saturating_sub(before.major_faults) as f64 / seconds,
        processes: after.processes,
        threads: after.threads,
        running: after.running,
    })
}
