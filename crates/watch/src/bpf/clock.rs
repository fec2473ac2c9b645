//! Programs that run again and again on each processor, whatever it does just then.

#![allow(unsafe_code, reason = "the library has no safe name for it")]

use std::os::fd::{AsRawFd as _, FromRawFd as _, IntoRawFd as _, OwnedFd};

use libbpf_rs::{Link, ProgramMut, libbpf_sys};
use units::Span;

/// A clock for each processor that is there: it ticks so often, by the processor's own time (perf_event_open(2),
/// `PERF_COUNT_SW_CPU_CLOCK`). None where there are no such clocks, or they are not allowed.
pub(crate) fn open(every: Span) -> impl Iterator<Item = OwnedFd> {
    let processors = libbpf_rs::num_possible_cpus().unwrap_or(0) as i32;
    (0..processors).filter_map(move |processor| {
        let mut attributes = libbpf_sys::perf_event_attr {
            type_: libbpf_sys::PERF_TYPE_SOFTWARE,
            size: size_of::<libbpf_sys::perf_event_attr>() as u32,
            config: u64::from(libbpf_sys::PERF_COUNT_SW_CPU_CLOCK),
            ..libbpf_sys::perf_event_attr::default()
        };
        attributes.__bindgen_anon_1.sample_period = every.as_nanos();
        attributes.set_exclude_idle(1);
        let (everybody, alone) = (-1, -1);
        // SAFETY: the kernel reads the attributes, as many bytes as their size says, and gives a descriptor that
        // is ours, or a negative number.
        let descriptor = unsafe {
            let flags = libbpf_sys::PERF_FLAG_FD_CLOEXEC;
            libc::syscall(
                libc::SYS_perf_event_open,
                &raw const attributes,
                everybody,
                processor,
                alone,
                flags,
            )
        };
        // SAFETY: a number that is not negative is a descriptor that the kernel has just given to us alone.
        (descriptor >= 0).then(|| unsafe { OwnedFd::from_raw_fd(descriptor as i32) })
    })
}

/// Has a program run at each tick, until the link is dropped, which closes the clock as well.
pub(crate) fn attach(program: &ProgramMut<'_>, clock: OwnedFd) -> libbpf_rs::Result<Link> {
    let link = program.attach_perf_event(clock.as_raw_fd())?;
    // The link has it now.
    let _ = clock.into_raw_fd();
    Ok(link)
}
