//! [`Samples`]: where processors are, from time to time.

use std::io;

use perf_event::data::Record;
use perf_event::events::Software;
use perf_event::{Builder, SampleFlag, Sampler};

use crate::processors::online;

/// Of each processor: 24 bytes for each sample, for a minute and a half of a processor that is always busy.
const BUFFER: usize = 512 << 10;

/// A buffer for each processor.
pub(super) struct Samples(Vec<Sampler>);

impl Samples {
    /// So many per second of each processor that is switched on, of user programs: where the kernel is has no names here.
    pub(super) fn open(frequency: u64) -> io::Result<Self> {
        let online = online();
        let samplers = online.into_iter().map(|processor| {
            let mut sampler = Builder::new(Software::CPU_CLOCK)
                .any_pid()
                .one_cpu(processor)
                .sample_frequency(frequency)
                .sample(SampleFlag::IP | SampleFlag::TID)
                .exclude_kernel(true)
                .exclude_hv(true)
                .build()?
                .sampled(BUFFER)?;
            sampler.enable()?;
            Ok(sampler)
        });
        samplers.collect::<io::Result<_>>().map(Self)
    }

    /// Gives what has come since: the process, and the address. Whether that is all: there is no room for more than comes
    /// within a minute and a half.
    pub(super) fn take(&mut self, mut each: impl FnMut(i32, u64)) -> bool {
        let mut are_all = true;
        for sampler in &mut self.0 {
            while let Some(record) = sampler.next_record() {
                let sample = match record.parse_record() {
                    Ok(Record::Sample(sample)) => sample,
                    Ok(Record::Lost(_)) => {
                        are_all = false;
                        continue;
                    }
                    _ => continue,
                };
                let process = sample.pid().and_then(|pid| i32::try_from(pid).ok());
                if let Some((process, address)) = process.zip(sample.ip()) {
                    each(process, address);
                }
            }
        }
        are_all
    }
}
