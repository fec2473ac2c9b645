//! [`Traced`]: by a program in the kernel that walks over the tasks.

use libbpf_rs::skel::{OpenSkel as _, SkelBuilder as _};
use libbpf_rs::{Link, MapCore as _, MapFlags};
use units::Span;

use super::sample::{MAX_PROGRAMS, Program, Sample};
use crate::bpf::layout::{Layout, processors};
use crate::bpf::programs::{peek, place, run, walk};
use crate::names::{MAX_NAME, kept};
use crate::whose::Roots;
use crate::{Error, Source};

program!("processes");

/// As in processes.bpf.c.
const MAX_ROOTS: usize = 4096;

const WALKING: &str = "taking a sample of processes";

/// How all tasks are visited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Walk {
    /// Since Linux 6.7.
    ByItself,
    /// By a program that is called for each.
    Called,
}

/// Walks over all tasks.
pub struct Traced {
    program: program::ProcessesSkel<'static>,
    programs: usize,
    page: u64,
    roots: Roots,
    /// Those that the program knows.
    known: Vec<u32>,
    /// What calls a program for each task, where it cannot walk over them by itself.
    walk: Option<Link>,
    /// What keeps the sums of those that end, while it is attached.
    _ends: Link,
}

impl Traced {
    /// Loads the program, for processes of these names; of more than [`MAX_PROGRAMS`] the first.
    ///
    /// # Errors
    /// When the kernel does not take it.
    pub fn open(names: &[impl AsRef<str>]) -> Result<Self, Error> {
        Self::open_for(names, Roots::default())
    }

    /// Loads the program, for programs of these names, whose processes are those that descend from these if it is they who
    /// decide.
    ///
    /// # Errors
    /// When the kernel does not take it, or numbers processes otherwise than they are numbered here.
    pub fn open_for(names: &[impl AsRef<str>], roots: Roots) -> Result<Self, Error> {
        let by_itself = Self::open_by(Walk::ByItself, names, roots.clone());
        by_itself.or_else(|_| Self::open_by(Walk::Called, names, roots))
    }

    fn open_by(walk: Walk, names: &[impl AsRef<str>], roots: Roots) -> Result<Self, Error> {
        let layout = Layout::read()?;
        let mut open = program::ProcessesSkelBuilder::default()
            .open(place())
            .map_err(Error::bpf("opening the program for processes"))?;
        let constants = open.maps.rodata_data.as_deref_mut().ok_or(Error::Unknown("constants"))?;
        constants.cpus = processors()?;
        constants.this_cpu_off_at = layout.distance("runqueues", "this_cpu_off").unwrap_or(0);
        let programs = names.len().min(MAX_PROGRAMS);
        constants.names = programs as u32;
        constants.by_roots = roots.decide();
        for (place, name) in constants.wanted.iter_mut().zip(names) {
            let mut padded = [0; MAX_NAME + 1];
            let name = kept(name.as_ref());
            padded[..name.len()].copy_from_slice(name);
            let (halves, _) = padded.as_chunks::<8>();
            place.halves = [u64::from_ne_bytes(halves[0]), u64::from_ne_bytes(halves[1])];
        }
        open.progs.hw_syscall_proc.set_autoload(walk == Walk::ByItself);
        open.progs.hw_syscall_none.set_autoload(walk == Walk::Called);
        open.progs.hw_iter_task.set_autoload(walk == Walk::Called);
        let program = open.load().map_err(Error::bpf("loading the program for processes"))?;
        let walk = match walk {
            Walk::ByItself => None,
            Walk::Called => Some(program.progs.hw_iter_task.attach().map_err(Error::bpf(WALKING))?),
        };
        let ends = program
            .progs
            .hw_process_free
            .attach_trace()
            .map_err(Error::bpf("noting the end of processes"))?;
        let page = rustix::param::page_size() as u64;
        let mut traced = Self { program, programs, page, roots, known: Vec::new(), walk, _ends: ends };
        if traced.roots.decide() {
            run(&traced.program.progs.hw_syscall_who, "asking who this process is")?;
            let state = traced.program.maps.bss_data.as_deref().ok_or(Error::Unknown("variables"))?;
            if peek(&state.own_process) != std::process::id() {
                return Err(Error::Unknown(
                    "the kernel's numbers of processes, which has others outside of this PID namespace",
                ));
            }
            traced.tell_roots()?;
        }
        Ok(traced)
    }
}

impl Traced {
    /// Tells the program from whom processes have to descend.
    fn tell_roots(&mut self) -> Result<(), Error> {
        let Some(all) = self.roots.changed() else { return Ok(()) };
        let roots = &self.program.maps.roots;
        for gone in self.known.iter().filter(|process| !all.contains_key(process)) {
            // It may be gone there as well.
            let _ = roots.delete(&gone.to_ne_bytes());
        }
        for (process, program) in all.iter().take(MAX_ROOTS) {
            let program = u32::try_from(*program).unwrap_or(u32::MAX);
            roots
                .update(&process.to_ne_bytes(), &program.to_ne_bytes(), MapFlags::ANY)
                .map_err(Error::bpf("telling whose processes are meant"))?;
        }
        self.known = all.keys().copied().collect();
        Ok(())
    }
}

impl Source for Traced {
    type Sample = Sample;

    fn sample(&mut self) -> Result<Sample, Error> {
        self.tell_roots()?;
        match &self.walk {
            None => run(&self.program.progs.hw_syscall_proc, WALKING)?,
            Some(over_tasks) => {
                run(&self.program.progs.hw_syscall_none, WALKING)?;
                walk(over_tasks, WALKING)?;
                let known = self.program.maps.data_data.as_deref_mut().ok_or(Error::Unknown("variables"))?;
                known.is_first = false;
            }
        }
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
