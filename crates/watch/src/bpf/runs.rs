//! How often programs have run and for how long, as the kernel counts it while somebody wants to know.

#![allow(unsafe_code, reason = "the library has no safe name for it")]

use std::fs;
use std::os::fd::{AsFd as _, AsRawFd as _, FromRawFd as _, OwnedFd};

use libbpf_rs::{ProgramMut, libbpf_sys};
use units::Span;

use crate::Error;

/// Lets the kernel measure the runs of all programs, until it is dropped.
#[derive(Debug)]
pub(crate) struct Measuring {
    _keeps_on: OwnedFd,
}

impl Measuring {
    /// # Errors
    /// When the kernel does not.
    pub(crate) fn begin() -> Result<Self, Error> {
        // SAFETY: the call takes a constant and gives a descriptor that is ours, or a negative number.
        unsafe {
            let descriptor = libbpf_sys::bpf_enable_stats(libbpf_sys::BPF_STATS_RUN_TIME);
            if descriptor < 0 {
                let why = libbpf_rs::Error::from_raw_os_error(-descriptor);
                return Err(Error::bpf("measuring the run time of programs")(why));
            }
            Ok(Self { _keeps_on: OwnedFd::from_raw_fd(descriptor) })
        }
    }
}

/// Kinds of programs, by what it costs to get to them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A breakpoint in the server, or a clock.
    Breakpoint,
    /// Places in the kernel.
    Tracepoint,
}

/// Runs of programs while they were measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Runs {
    pub(crate) count: u64,
    pub(crate) time: Span,
}

impl Runs {
    /// Of one program since it was loaded.
    pub(crate) fn of(program: &ProgramMut<'_>) -> Self {
        let info = format!("/proc/self/fdinfo/{}", program.as_fd().as_raw_fd());
        let text = fs::read_to_string(info).unwrap_or_default();
        let field = |name: &str| {
            let value = text.lines().find_map(|line| line.strip_prefix(name))?;
            value.trim().parse().ok()
        };
        Self {
            count: field("run_cnt:").unwrap_or(0),
            time: Span::from_nanos(field("run_time_ns:").unwrap_or(0)),
        }
    }

    /// Of all of these.
    pub(crate) fn of_all(programs: &[&ProgramMut<'_>]) -> Self {
        programs.iter().map(|program| Self::of(program)).fold(Self::default(), |sum, runs| Self {
            count: sum.count + runs.count,
            time: sum.time + runs.time,
        })
    }

    /// What has been added since.
    pub(crate) fn since(self, earlier: Self) -> Self {
        Self { count: self.count.saturating_sub(earlier.count), time: self.time.saturating_sub(earlier.time) }
    }
}
