//! Rates and shares, by the names that they have in the record.

use catalogue::Metric;
use catalogue::watch::kernel as metrics;
use serde::Serialize;
use units::Span;

use super::sample::Sample;

/// What went on between two samples: shares of all processors, and events per second. The paper's table 7.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
#[expect(missing_docs, reason = "as in `Sample`")]
pub struct Rates {
    pub cpu_user: f64,
    pub cpu_system: f64,
    pub cpu_interrupt: f64,
    pub cpu_soft_interrupt: f64,
    pub cpu_stolen: f64,
    pub cpu_io_wait: f64,
    pub cpu_idle: f64,
    pub reads: f64,
    pub writes: f64,
    pub blocks_read: f64,
    pub blocks_written: f64,
    /// KiB per second.
    pub paged_in: f64,
    /// KiB per second.
    pub paged_out: f64,
    pub major_faults: f64,
    pub interrupts: f64,
    pub network_interrupts: f64,
    pub disk_interrupts: f64,
    pub context_switches: f64,
    /// At the second sample.
    pub run_queue: u32,
}

impl Rates {
    /// Its figures.
    pub(crate) fn figures(&self) -> impl Iterator<Item = (Metric, f64)> {
        let figures = [
            (metrics::BLOCKS_READ, self.blocks_read),
            (metrics::BLOCKS_WRITTEN, self.blocks_written),
            (metrics::CONTEXT_SWITCHES, self.context_switches),
            (metrics::CPU_IDLE, self.cpu_idle),
            (metrics::CPU_INTERRUPT, self.cpu_interrupt),
            (metrics::CPU_IO_WAIT, self.cpu_io_wait),
            (metrics::CPU_SOFT_INTERRUPT, self.cpu_soft_interrupt),
            (metrics::CPU_STOLEN, self.cpu_stolen),
            (metrics::CPU_SYSTEM, self.cpu_system),
            (metrics::CPU_USER, self.cpu_user),
            (metrics::DISK_INTERRUPTS, self.disk_interrupts),
            (metrics::INTERRUPTS, self.interrupts),
            (metrics::MAJOR_FAULTS, self.major_faults),
            (metrics::NETWORK_INTERRUPTS, self.network_interrupts),
            (metrics::PAGED_IN, self.paged_in),
            (metrics::PAGED_OUT, self.paged_out),
            (metrics::READS, self.reads),
            (metrics::RUN_QUEUE, f64::from(self.run_queue)),
            (metrics::WRITES, self.writes),
        ];
        figures.into_iter()
    }
}

/// The rates between two samples of one source.
pub fn rates(before: &Sample, after: &Sample) -> Rates {
    let seconds = after.uptime.saturating_sub(before.uptime).as_secs_f64();
    let spent = |of: fn(&Sample) -> Span| of(after).saturating_sub(of(before)).as_secs_f64();
    // What is not known of any state, because ticks came late for example, is divided among them: as in sar.
    let states: [fn(&Sample) -> Span; 7] = [
        |sample| sample.user,
        |sample| sample.system,
        |sample| sample.interrupt,
        |sample| sample.soft_interrupt,
        |sample| sample.stolen,
        |sample| sample.io_wait,
        |sample| sample.idle,
    ];
    let whole: f64 = states.map(spent).iter().sum();
    let share = |of: fn(&Sample) -> Span| if whole > 0.0 { spent(of) / whole } else { 0.0 };
    let rate = |of: fn(&Sample) -> u64| of(after).saturating_sub(of(before)) as f64 / seconds;
    Rates {
        cpu_user: share(|sample| sample.user),
        cpu_system: share(|sample| sample.system),
        cpu_interrupt: share(|sample| sample.interrupt),
        cpu_soft_interrupt: share(|sample| sample.soft_interrupt),
        cpu_stolen: share(|sample| sample.stolen),
        cpu_io_wait: share(|sample| sample.io_wait),
        cpu_idle: share(|sample| sample.idle),
        reads: rate(|sample| sample.reads),
        writes: rate(|sample| sample.writes),
        blocks_read: rate(|sample| sample.blocks_read),
        blocks_written: rate(|sample| sample.blocks_written),
        paged_in: rate(|sample| sample.paged_in),
        paged_out: rate(|sample| sample.paged_out),
        major_faults: rate(|sample| sample.major_faults),
        interrupts: rate(|sample| sample.interrupts),
        network_interrupts: rate(|sample| sample.network_interrupts),
        disk_interrupts: rate(|sample| sample.disk_interrupts),
        context_switches: rate(|sample| sample.context_switches),
        run_queue: after.running,
    }
}
