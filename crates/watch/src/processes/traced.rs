//! [`Traced`]: by a program in the kernel that walks over the tasks.

use libbpf_rs::Link;
use libbpf_rs::skel::{OpenSkel as _, SkelBuilder as _};
use units::Span;

use super::sample::{MAX_NAME, MAX_PROGRAMS, Program, Sample, kept};
use crate::bpf::layout::{Layout, processors};
use crate::bpf::programs::{peek, place, run};
use crate::{Error, Source};

program!("processes");

/// Walks over all tasks.
pub struct Traced {
    program: program::ProcessesSkel<'static>,
    programs: usize,
    page: u64,
    /// What keeps the sums of those that end, while it is attached.
    _ends: Link,
}

impl Traced {
    /// Loads the program, for processes of these names; of more than [`MAX_PROGRAMS`] the first.
    ///
    /// # Errors
    /// When the kernel does not take it.
    pub fn open(names: &[impl AsRef<str>]) -> Result<Self, Error> {
        let layout = Layout::read()?;
        let mut open = program::ProcessesSkelBuilder::default()
            .open(place())
            .map_err(Error::bpf("opening the program for processes"))?;
        let constants = open.maps.rodata_data.as_deref_mut().ok_or(Error::Unknown("constants"))?;
        constants.cpus = processors()?;
        constants.this_cpu_off_at = layout.distance("runqueues", "this_cpu_off").unwrap_or(0);
        let programs = names.len().min(MAX_PROGRAMS);
        constants.names = programs as u32;
        for (place, name) in constants.wanted.iter_mut().zip(names) {
            let mut padded = [0; MAX_NAME + 1];
            let name = kept(name.as_ref());
            padded[..name.len()].copy_from_slice(name);
            let (halves, _) = padded.as_chunks::<8>();
            place.halves = [u64::from_ne_bytes(halves[0]), u64::from_ne_bytes(halves[1])];
        }
        let program = open.load().map_err(Error::bpf("loading the program for processes"))?;
        let ends = program
            .progs
            .hw_process_free
            .attach_trace()
            .map_err(Error::bpf("noting the end of processes"))?;
        Ok(Self { program, programs, page: rustix::param::page_size() as u64, _ends: ends })
    }
}

impl Source for Traced {
    type Sample = Sample;

    fn sample(&mut self) -> Result<Sample, Error> {
        run(&self.program.progs.hw_syscall_proc, "taking a sample of processes")?;
        let state = self.program.maps.bss_data.as_deref().ok_or(Error::Unknown("variables"))?;
        let both = state.programs[..self.programs].iter().zip(&state.sums);
        let programs = both.map(|(program, sum)| {
            let (program, sum) = (peek(program), peek(sum));
            Program {
                cpu: Span::from_nanos(sum.cpu),
                major_faults: sum.faults,
                resident: program.resident.unsigned_abs() * self.page,
                processes: program.processes,
                threads: program.threads,
                running: program.running,
            }
        });
        Ok(Sample { uptime: Span::from_nanos(peek(&state.uptime_ns)), programs: programs.collect() })
    }
}
