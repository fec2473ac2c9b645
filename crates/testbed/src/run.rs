//! Runs a program to its end and tells what it cost.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::{TimeVal, TimeValLike};

use crate::error::Error;
use crate::wait::ended_within;

/// Enough for a program that only says what it is.
const SHORT_TIMEOUT: Duration = Duration::from_secs(10);

/// A program that ended by itself.
#[derive(Debug)]
pub struct Ended {
    /// How.
    pub status: ExitStatus,
    /// What it wrote to standard output.
    pub stdout: String,
    /// What it wrote to standard error.
    pub stderr: String,
    /// CPU time in user mode, of the program and what it started.
    pub user: Duration,
    /// CPU time in the kernel, of the program and what it started.
    pub system: Duration,
    /// From its start to its end.
    pub wall: Duration,
}

/// Runs a program; one that has not ended by the deadline is killed and an error.
///
/// No other child may be waited for meanwhile: the kernel's account is of all children together.
///
/// # Errors
/// When it cannot be started, or does not end in time.
pub fn run(command: &mut Command, deadline: Duration) -> Result<Ended, Error> {
    // Files rather than pipes, which somebody would have to read while the program runs.
    let file = || tempfile::tempfile().map_err(Error::io("create a file in", &std::env::temp_dir()));
    let (mut out, mut err) = (file()?, file()?);
    let failed = |command: &Command, what: &'static str| {
        let program = Path::new(command.get_program()).to_owned();
        move |source: io::Error| Error::Io { action: what, path: program, source }
    };
    let of_output =
        |file: &File| file.try_clone().map_err(Error::io("share a file in", &std::env::temp_dir()));
    command.stdin(Stdio::null()).stdout(of_output(&out)?).stderr(of_output(&err)?);
    let before = spent().map_err(failed(command, "account for"))?;
    let started = Instant::now();
    let mut child = command.spawn().map_err(failed(command, "start"))?;
    let in_time = ended_within(&mut child, deadline);
    let Ok(Some(status)) = in_time else {
        let _ = child.kill();
        let _ = child.wait();
        in_time.map_err(failed(command, "wait for"))?;
        let what = format!("did not end within {} s: {}", deadline.as_secs(), show(command));
        return Err(Error::Process { name: "program", what, said: String::new() });
    };
    let wall = started.elapsed();
    let after = spent().map_err(failed(command, "account for"))?;
    Ok(Ended {
        status,
        stdout: text(&mut out),
        stderr: text(&mut err),
        user: after.0.saturating_sub(before.0),
        system: after.1.saturating_sub(before.1),
        wall,
    })
}

/// Runs a short program to its end; gives all it wrote and how it ended.
///
/// # Errors
/// When it cannot be started, or does not end in time.
pub fn output(name: &'static str, command: &mut Command) -> Result<(String, ExitStatus), Error> {
    let program = command.get_program().to_string_lossy().into_owned();
    let ended = run(command, SHORT_TIMEOUT).map_err(|error| match error {
        Error::Io { source, .. } => {
            let what = format!("cannot be started from {program}: {source}");
            Error::Process { name, what, said: String::new() }
        }
        other => other,
    })?;
    Ok((format!("{}{}", ended.stdout, ended.stderr).trim().to_owned(), ended.status))
}

/// What a short program says, standard output first, whatever its exit status.
///
/// # Errors
/// When it cannot be started, or does not end in time.
pub fn says(program: &str, arguments: &[&str]) -> Result<String, Error> {
    let ended = run(Command::new(program).args(arguments), SHORT_TIMEOUT)?;
    Ok(format!("{}{}", ended.stdout, ended.stderr))
}

/// What a short program says on standard output.
///
/// # Errors
/// When it cannot be started, does not end in time, or fails.
pub fn succeeds(program: &str, arguments: &[&str]) -> Result<String, Error> {
    let mut command = Command::new(program);
    let ended = run(command.args(arguments), SHORT_TIMEOUT)?;
    if !ended.status.success() {
        let what = format!("{}: {}", show(&command), ended.status);
        let said = ended.stderr.trim().to_owned();
        return Err(Error::Process { name: "program", what: format!("failed: {what}"), said });
    }
    Ok(ended.stdout.trim().to_owned())
}

/// The command as one would type it.
pub fn show(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
    quote(&words)
}

/// Words of a command line as one would type them.
pub fn quote(words: &[impl AsRef<str>]) -> String {
    let quoted = words.iter().map(|word| match word.as_ref() {
        word if word.contains(' ') => format!("'{word}'"),
        word => word.to_owned(),
    });
    quoted.collect::<Vec<_>>().join(" ")
}

fn spent() -> io::Result<(Duration, Duration)> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    Ok((duration(usage.user_time()), duration(usage.system_time())))
}

fn duration(time: TimeVal) -> Duration {
    Duration::from_micros(u64::try_from(time.num_microseconds()).unwrap_or(0))
}

/// What could be read before an error is still worth showing.
fn text(file: &mut File) -> String {
    let mut bytes = Vec::new();
    let _ = file.rewind().and_then(|()| file.read_to_end(&mut bytes));
    String::from_utf8_lossy(&bytes).into_owned()
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
