//! [`UnitCosts`]: what it costs to get to a program and back, which the kernel does not measure.

#![allow(unsafe_code, reason = "a function whose first instruction is known")]

use std::hint::black_box;

use units::Span;

use super::traced::{Kind, Probes};
use crate::{Error, clock};

/// Processor time of a run of a program besides its own, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct UnitCosts {
    tracepoint: f64,
    breakpoint: f64,
}

/// Calls in a batch, and batches, of which the fastest counts: what disturbs one only adds to it.
const CALLS: u32 = 500;
const BATCHES: usize = 8;

/// Attaches all of the probes, those in binaries to this process or not at all, and detaches them.
pub(crate) fn try_out(binary: bool) -> Result<(), Error> {
    let mut probes = Probes::load(&[])?;
    if binary { probes.attach_to_self(a_function as *const () as usize) } else { probes.attach(&[]) }
}

impl UnitCosts {
    /// Measures both on this thread. The probes must not be attached.
    ///
    /// # Errors
    /// When they cannot be attached.
    pub(super) fn measure(probes: &mut Probes) -> Result<Self, Error> {
        let call = || {
            black_box(rustix::process::getppid());
        };
        let alone = fastest(call);
        probes.attach(&[])?;
        let before = probes.runs(Kind::Tracepoint);
        let watched = fastest(call);
        let runs = probes.runs(Kind::Tracepoint).since(before);
        probes.detach();
        // Two runs for each call, at its beginning and at its end.
        let tracepoint = (watched - alone) / 2.0 - mean(runs.time, runs.count);

        let alone = fastest(|| a_function());
        probes.attach_to_self(a_function as *const () as usize)?;
        let before = probes.runs(Kind::Breakpoint);
        let watched = fastest(|| a_function());
        let runs = probes.runs(Kind::Breakpoint).since(before);
        probes.detach();
        let breakpoint = watched - alone - mean(runs.time, runs.count);
        Ok(Self { tracepoint: tracepoint.max(0.0), breakpoint: breakpoint.max(0.0) })
    }

    /// Of so many runs, without their own time.
    pub(super) fn of(self, kind: Kind, runs: u64) -> Span {
        let each = match kind {
            Kind::Tracepoint | Kind::State => self.tracepoint,
            Kind::Breakpoint => self.breakpoint,
        };
        Span::from_secs_f64(each * runs as f64)
    }
}

fn mean(time: Span, count: u64) -> f64 {
    time.as_secs_f64() / count.max(1) as f64
}

/// Processor time of a call in the fastest batch, in seconds.
fn fastest(call: impl Fn()) -> f64 {
    let batch = |_| {
        let before = clock::thread();
        (0..CALLS).for_each(|_| call());
        clock::thread().saturating_sub(before).as_secs_f64() / f64::from(CALLS)
    };
    (0..BATCHES).map(batch).fold(f64::INFINITY, f64::min)
}

/// Begins with a `push`, as the functions do that probes in servers are attached to.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
extern "C" fn a_function() {
    std::arch::naked_asm!("push rbp", "pop rbp", "ret");
}

/// Begins with whatever the compiler makes of it.
#[cfg(not(target_arch = "x86_64"))]
#[inline(never)]
extern "C" fn a_function() {
    black_box(());
}
