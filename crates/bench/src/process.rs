//! Runs a program to its end and tells what it cost.

use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::{TimeVal, TimeValLike};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

/// Enough for a program that only says what it is.
const SHORT: Duration = Duration::from_secs(10);

/// A program that ended by itself.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// CPU time in user mode, of the program and what it started.
    pub(crate) user: Duration,
    /// The same in the kernel.
    pub(crate) system: Duration,
    pub(crate) wall: Duration,
}

/// Runs a program; one that has not ended by the deadline is killed and an error.
///
/// No other child may be waited for meanwhile: the kernel's account is of all children together.
pub(crate) fn run(command: &mut Command, deadline: Duration) -> anyhow::Result<Ended> {
    // Files rather than pipes: nobody has to read them while the program runs.
    let (mut out, mut err) = (tempfile::tempfile()?, tempfile::tempfile()?);
    command.stdin(Stdio::null()).stdout(out.try_clone()?).stderr(err.try_clone()?);
    let before = spent()?;
    let started = Instant::now();
    let mut child = command.spawn().with_context(|| format!("cannot start {}", show(command)))?;
    let in_time = ends_within(&child, deadline);
    if !matches!(in_time, Ok(true)) {
        child.kill()?;
        child.wait()?;
        in_time?;
        bail!("did not end within {} s: {}", deadline.as_secs(), show(command));
    }
    let status = child.wait()?;
    let wall = started.elapsed();
    let after = spent()?;
    Ok(Ended {
        status,
        stdout: text(&mut out)?,
        stderr: text(&mut err)?,
        user: after.0.saturating_sub(before.0),
        system: after.1.saturating_sub(before.1),
        wall,
    })
}

/// Waits until the child has ended, which the caller still has to collect.
pub(crate) fn ends_within(child: &Child, deadline: Duration) -> anyhow::Result<bool> {
    let process = pidfd_open(Pid::from_child(child), PidfdFlags::empty()).context("pidfd_open")?;
    let until = Instant::now() + deadline;
    loop {
        let left = until.saturating_duration_since(Instant::now());
        match poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&Timespec::try_from(left)?)) {
            Ok(0) if left.is_zero() => return Ok(false),
            Ok(0) | Err(rustix::io::Errno::INTR) => {}
            Ok(_) => return Ok(true),
            Err(error) => return Err(error).context("poll"),
        }
    }
}

/// What a short program says, standard output first, whatever its exit status.
pub(crate) fn says(program: &str, arguments: &[&str]) -> anyhow::Result<String> {
    let ended = run(Command::new(program).args(arguments), SHORT)?;
    Ok(format!("{}{}", ended.stdout, ended.stderr))
}

/// What a short program says on standard output; an error unless it succeeds.
pub(crate) fn succeeds(program: &str, arguments: &[&str]) -> anyhow::Result<String> {
    let ended = run(Command::new(program).args(arguments), SHORT)?;
    if !ended.status.success() {
        bail!("{program}: {}", ended.stderr.trim());
    }
    Ok(ended.stdout.trim().to_owned())
}

/// CPU time that the threads of a process have used so far. The scheduler's own account, in nanoseconds: `stat`
/// has ticks of 10 ms.
pub(crate) fn cpu(process: u32) -> anyhow::Result<Duration> {
    let tasks = format!("/proc/{process}/task");
    let mut sum = Duration::ZERO;
    for task in fs::read_dir(&tasks).with_context(|| format!("cannot read {tasks}"))? {
        let file = task?.path().join("schedstat");
        let text = match fs::read_to_string(&file) {
            // It has just ended.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            text => text.with_context(|| format!("cannot read {}", file.display()))?,
        };
        let ns = text.split(' ').next().and_then(|ns| ns.parse().ok());
        sum += Duration::from_nanos(ns.with_context(|| format!("cannot understand {}", file.display()))?);
    }
    Ok(sum)
}

/// Descriptors that a process has open.
pub(crate) fn descriptors(process: u32) -> anyhow::Result<usize> {
    let directory = format!("/proc/{process}/fd");
    let entries = fs::read_dir(&directory).with_context(|| format!("cannot read {directory}"))?;
    Ok(entries.count())
}

/// The command as one would type it.
pub(crate) fn show(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
    quote(&words)
}

/// Words of a command line as one would type them.
pub(crate) fn quote(words: &[impl AsRef<str>]) -> String {
    let quoted = words.iter().map(|word| match word.as_ref() {
        word if word.contains(' ') => format!("'{word}'"),
        word => word.to_owned(),
    });
    quoted.collect::<Vec<_>>().join(" ")
}

fn spent() -> anyhow::Result<(Duration, Duration)> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).context("getrusage")?;
    Ok((duration(usage.user_time()), duration(usage.system_time())))
}

fn duration(time: TimeVal) -> Duration {
    Duration::from_micros(u64::try_from(time.num_microseconds()).unwrap_or(0))
}

fn text(file: &mut File) -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cost_output_and_status_are_told_and_a_program_that_hangs_is_killed() {
        let burn = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; echo out; echo err >&2; exit 4";
        let ended = run(Command::new("sh").args(["-c", burn]), Duration::from_secs(60)).unwrap();
        assert_eq!((ended.status.code(), &*ended.stdout, &*ended.stderr), (Some(4), "out\n", "err\n"));
        assert!(!(ended.user + ended.system).is_zero(), "{ended:?}");

        let error = run(Command::new("sleep").arg("600"), Duration::from_millis(50)).unwrap_err();
        assert!(error.to_string().contains("did not end within 0 s: sleep 600"), "{error}");
    }
}
