//! [`Traced`]: by a program in the kernel.

use libbpf_rs::Link;
use libbpf_rs::skel::{OpenSkel as _, SkelBuilder as _};
use units::Span;

use super::proc::interrupt_kinds;
use super::sample::Sample;
use crate::bpf::layout::{Layout, processors};
use crate::bpf::programs::{peek, place, run};
use crate::{Error, Source};

program!("kernel");

/// Reads the kernel's own counters where they are, and counts interrupts and disk requests by kind.
pub struct Traced {
    program: program::KernelSkel<'static>,
    processors: u32,
    /// What counts while it is attached.
    _links: [Link; 2],
}

/// Indices of `enum cpu_usage_stat` in `include/linux/kernel_stat.h`.
const USER: usize = 0;
const NICE: usize = 1;
const SYSTEM: usize = 2;
const SOFTIRQ: usize = 3;
const IRQ: usize = 4;
const IDLE: usize = 5;
const IOWAIT: usize = 6;
const STEAL: usize = 7;

impl Traced {
    /// Loads the program.
    ///
    /// # Errors
    /// When the kernel does not take it.
    pub fn open() -> Result<Self, Error> {
        let layout = Layout::read()?;
        let processors = processors()?;
        let mut open = program::KernelSkelBuilder::default()
            .open(place())
            .map_err(Error::bpf("opening the program for the kernel's figures"))?;
        let constants = open.maps.rodata_data.as_deref_mut().ok_or(Error::Unknown("constants"))?;
        constants.cpus = processors;
        constants.cpustat_at = layout.distance("runqueues", "kernel_cpustat")?;
        constants.tick_at = layout.distance("runqueues", "tick_cpu_sched")?;
        constants.kstat_at = layout.distance("runqueues", "kstat")?;
        constants.vm_events_at = layout.distance("runqueues", "vm_event_states")?;
        constants.irq_stat_at = layout.distance("runqueues", "irq_stat").unwrap_or(0);
        constants.pgpgin = layout.constant("vm_event_item", "PGPGIN")?;
        constants.pgpgout = layout.constant("vm_event_item", "PGPGOUT")?;
        constants.pgmajfault = layout.constant("vm_event_item", "PGMAJFAULT")?;
        let mut program = open.load().map_err(Error::bpf("loading the program for the kernel's figures"))?;
        let state = program.maps.bss_data.as_deref_mut().ok_or(Error::Unknown("variables"))?;
        for (irq, kind) in interrupt_kinds() {
            if let Some(place) = state.kinds.get_mut(irq) {
                *place = kind as u8;
            }
        }
        let attach = Error::bpf("counting interrupts");
        let interrupt = program.progs.hw_irq_entry.attach_trace().map_err(attach)?;
        let completed =
            program.progs.hw_rq_complete.attach_trace().map_err(Error::bpf("counting disk requests"))?;
        let mut traced = Self { program, processors, _links: [interrupt, completed] };
        traced.sample()?;
        let state = traced.program.maps.bss_data.as_deref().ok_or(Error::Unknown("variables"))?;
        if state.samples[..processors as usize].iter().any(|sample| peek(sample).is_read == 0) {
            return Err(Error::Unknown("where each processor's variables are"));
        }
        Ok(traced)
    }
}

impl Source for Traced {
    type Sample = Sample;

    fn sample(&mut self) -> Result<Sample, Error> {
        run(&self.program.progs.hw_syscall_kern, "taking a sample of the kernel's figures")?;
        let state = self.program.maps.bss_data.as_deref().ok_or(Error::Unknown("variables"))?;
        let mut sum = Sample { uptime: Span::from_nanos(peek(&state.uptime_ns)), ..Sample::default() };
        for cpu in 0..self.processors as usize {
            let (sample, counts) = (peek(&state.samples[cpu]), peek(&state.counts[cpu]));
            let time = |index: usize| Span::from_nanos(sample.times[index]);
            sum.processors += u32::from(sample.is_online);
            // Of a processor that has been taken offline, and without a tick that stops, the kernel has added
            // these up itself.
            let asleep = sample.is_online != 0 && sample.idle + sample.iowait > 0;
            sum.user += time(USER) + time(NICE);
            sum.system += time(SYSTEM);
            sum.interrupt += time(IRQ);
            sum.soft_interrupt += time(SOFTIRQ);
            sum.stolen += time(STEAL);
            sum.idle += if asleep { Span::from_nanos(sample.idle) } else { time(IDLE) };
            sum.io_wait += if asleep { Span::from_nanos(sample.iowait) } else { time(IOWAIT) };
            sum.paged_in += sample.paged_in / 2;
            sum.paged_out += sample.paged_out / 2;
            sum.major_faults += sample.major_faults;
            sum.interrupts += sample.interrupts;
            sum.context_switches += sample.switches;
            sum.running += sample.running;
            let [_, network, disk] = counts.interrupts;
            sum.network_interrupts += network;
            sum.disk_interrupts += disk;
            sum.reads += counts.reads;
            sum.writes += counts.writes;
            sum.blocks_read += counts.sectors_read;
            sum.blocks_written += counts.sectors_written;
        }
        Ok(sum)
    }
}
