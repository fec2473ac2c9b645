//! What it takes to get to a program and back, which the kernel does not measure: [`UnitCosts`], all of it;
//! [`Crossings`], what of it would count as the server's own.

#![allow(unsafe_code, reason = "a function whose first instruction is known")]

use std::hint::black_box;

use units::Span;

use super::traced::{Probes, Stretches};
use crate::bpf::runs::Kind;
use crate::{Error, clock};

/// Processor time of a run of a program besides its own, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct UnitCosts {
    tracepoint: f64,
    breakpoint: f64,
}

/// From one look at what runs to the next, in step neither with the scheduler's tick nor with anything else: often
/// where every request is followed, whatever that costs.
pub(super) const OFTEN: Span = Span::from_micros(499);
/// And seldom where there is a budget: in a virtual machine a look may take some 70 us.
pub(super) const SELDOM: Span = Span::from_micros(4_730);
/// Calls in a batch, and batches, of which the fastest counts: what disturbs one only adds to it.
const CALLS: u32 = 500;
const BATCHES: usize = 8;

/// Attaches probes, those in binaries to this process, and detaches them.
pub(crate) fn try_out(at: AttachPoint) -> Result<(), Error> {
    let mut probes = Probes::load(&[], 0, OFTEN)?;
    match at {
        AttachPoint::Kernel => probes.attach(&[]),
        AttachPoint::Binary => probes.attach_to_self(a_function as *const () as usize),
    }
}

/// What probes are attached to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AttachPoint {
    /// Tracepoints of the kernel.
    Kernel,
    /// Functions of a binary.
    Binary,
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
        probes.detach()?;
        // Two runs for each call, at its beginning and at its end.
        let tracepoint = (watched - alone) / 2.0 - mean(runs.time, runs.count);

        let alone = fastest(|| a_function());
        probes.attach_to_self(a_function as *const () as usize)?;
        let before = probes.runs(Kind::Breakpoint);
        let watched = fastest(|| a_function());
        let runs = probes.runs(Kind::Breakpoint).since(before);
        probes.detach()?;
        let breakpoint = watched - alone - mean(runs.time, runs.count);
        Ok(Self { tracepoint: tracepoint.max(0.0), breakpoint: breakpoint.max(0.0) })
    }

    /// Has requests told without what following them costs, where getting to a program takes so many times as
    /// long as where nothing else goes on.
    ///
    /// # Errors
    /// When the programs are not there.
    pub(super) fn leave_out(self, times: f64, probes: &mut Probes) -> Result<(), Error> {
        let [call, probe] = [self.tracepoint, self.breakpoint].map(|cost| Span::from_secs_f64(cost * times));
        probes.leave_out(call, probe)
    }

    /// Of so many runs, without their own time.
    pub(super) fn of(self, kind: Kind, runs: u64) -> Span {
        let each = match kind {
            Kind::Tracepoint => self.tracepoint,
            Kind::Breakpoint => self.breakpoint,
        };
        Span::from_secs_f64(each * runs as f64)
    }
}

/// The ways into the kernel and back, as far as programs are not told of them. What they take is the kernel's,
/// but it is before the first moment that a program knows and after the last.
///
/// They are measured where nothing else goes on, and take longer in a server, which leaves the kernel's code and
/// data in no cache; how much longer, looks at random moments find.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Crossings {
    /// Of a system call.
    call: Span,
    /// Of a breakpoint.
    probe: Span,
}

/// With fewer crossings than would take so long where nothing else goes on, looks say little.
const FEW: Span = Span::from_millis(200);

impl Crossings {
    /// Measures both on this thread. The probes must not be attached; whether runs of programs are measured
    /// must be as it is when they are.
    ///
    /// # Errors
    /// When they cannot be attached.
    pub(super) fn measure(probes: &mut Probes) -> Result<Self, Error> {
        probes.attach(&[])?;
        let call = in_user_mode(probes, || {
            black_box(rustix::process::getppid());
        })?;
        // Where it cannot be attached here it cannot be in a server either.
        let probe = match probes.attach_to_self(a_function as *const () as usize) {
            Ok(()) => in_user_mode(probes, || a_function())?,
            Err(_) => Span::ZERO,
        };
        probes.detach()?;
        probes.forget_stretches()?;
        probes.correct_by(call, probe)?;
        Ok(Self { call, probe })
    }

    /// Has requests corrected by what has been found so far, and gives how much longer than where nothing else
    /// goes on all of these ways take.
    ///
    /// # Errors
    /// When the programs are not there.
    pub(super) fn correct(self, probes: &mut Probes) -> Result<f64, Error> {
        let times = self.times(probes.stretches()?);
        probes.correct_by(self.call.mul_f64(times), self.probe.mul_f64(times))?;
        Ok(times)
    }

    /// How much longer than where nothing else goes on.
    fn times(self, seen: Stretches) -> f64 {
        let expected =
            self.call.as_secs_f64() * seen.calls as f64 + self.probe.as_secs_f64() * seen.probes as f64;
        let found = seen.time.as_secs_f64() * seen.crossings as f64 / seen.looks.max(1) as f64;
        let few = FEW.as_secs_f64();
        if seen.looks == 0 { 1.0 } else { (few + found) / (few + expected) }
    }
}

/// What counts as user mode of a call that does nothing there, in the batch in the middle.
fn in_user_mode(probes: &mut Probes, call: impl Fn()) -> Result<Span, Error> {
    let mut batches = [Span::ZERO; BATCHES];
    for batch in &mut batches {
        probes.ask()?;
        (0..CALLS).for_each(|_| call());
        *batch = probes.ask()?.mul_f64(1.0 / f64::from(CALLS));
    }
    Ok(stats::order::upper_median(&mut batches).unwrap_or(Span::ZERO))
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Of ten million calls in 20 s, a quarter of which was on the way, looked at 2000 times.
    #[test]
    fn looks_say_how_long_crossings_take() {
        let crossings = Crossings { call: Span::from_nanos(250), probe: Span::ZERO };
        let seen = |share: u64| Stretches {
            time: Span::from_secs(20),
            calls: 10_000_000 / share,
            probes: 0,
            looks: 2000 / share,
            crossings: 500 / share,
        };
        let times = crossings.times(seen(1));
        assert!((1.9..2.0).contains(&times), "500 ns each: {times}");
        let times = crossings.times(Stretches { time: Span::from_millis(20), ..seen(1000) });
        assert!((0.95..1.05).contains(&times), "two looks say little: {times}");
        assert_eq!(crossings.times(Stretches { looks: 0, crossings: 0, ..seen(1) }), 1.0, "no clock");
        assert_eq!(crossings.times(Stretches::default()), 1.0);
    }
}
