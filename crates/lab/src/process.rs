//! [`Process`]: a program that the lab started, and that never outlives it.

use std::fs::{self, File};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::{Error, Stop};

/// How long a program may take until it says that it is ready.
const START: Duration = Duration::from_secs(10);

/// How long a program may take to end after SIGTERM before it is killed.
const END: Duration = Duration::from_secs(5);

const POLL: Duration = Duration::from_millis(5);

/// How much of what a program wrote stands in an error.
const QUOTE: usize = 600;

/// A running program in a process group of its own, so that the terminal's Ctrl-C reaches only the
/// lab and no descendant escapes. Ended when dropped.
#[derive(Debug)]
pub(crate) struct Process {
    name: &'static str,
    child: Child,
    log: PathBuf,
}

impl Process {
    /// Starts `command`; all it writes goes to the file `log`.
    pub(crate) fn start(name: &'static str, mut command: Command, log: &Path) -> Result<Self, Error> {
        let file = File::create(log).map_err(Error::io("create", log))?;
        let also = file.try_clone().map_err(Error::io("create", log))?;
        let child = command
            .stdin(Stdio::null())
            .stdout(file)
            .stderr(also)
            .process_group(0)
            .spawn()
            .map_err(|why| cannot_start(name, &command, &why))?;
        Ok(Self { name, child, log: log.to_owned() })
    }

    /// Its number.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Its exit status, when it has ended.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Waits for a line that begins with `prefix` in what it writes; gives the rest of the line.
    pub(crate) fn wait_for_line(&mut self, prefix: &str, stop: &Stop) -> Result<String, Error> {
        self.wait_until_ready(&format!("did not say \"{prefix}\""), stop, |log| {
            let text = fs::read_to_string(log).unwrap_or_default();
            let whole = &text[..text.rfind('\n').unwrap_or(0)];
            whole.lines().find_map(|line| line.strip_prefix(prefix)).map(str::to_owned)
        })
    }

    /// Waits until `probe`, which is given the log's path, finds what it looks for.
    pub(crate) fn wait_until_ready<T>(
        &mut self,
        not: &str,
        stop: &Stop,
        probe: impl Fn(&Path) -> Option<T>,
    ) -> Result<T, Error> {
        let deadline = Instant::now() + START;
        loop {
            let status = self.ended();
            if let Some(found) = probe(&self.log) {
                return Ok(found);
            }
            if let Some(status) = status {
                return Err(self.error(format!("ended before it was ready ({status})")));
            }
            if Instant::now() >= deadline {
                return Err(self.error(format!("{not} within {} s", START.as_secs())));
            }
            stop.pause(POLL)?;
        }
    }

    /// Waits until it has ended by itself; after `limit` it is killed and an error.
    pub(crate) fn wait(
        &mut self,
        limit: Duration,
        stop: &Stop,
        mut meanwhile: impl FnMut(),
    ) -> Result<ExitStatus, Error> {
        /// Long against the time that a look takes, which the generator's processor lacks then.
        const LOOK: Duration = Duration::from_millis(40);
        let deadline = Instant::now() + limit;
        loop {
            if let Some(status) = self.ended() {
                return Ok(status);
            }
            if Instant::now() >= deadline {
                self.end();
                return Err(self.error(format!("did not end within {} s", limit.as_secs())));
            }
            meanwhile();
            stop.pause(LOOK)?;
        }
    }

    /// Asks it to end as Ctrl-C would and gives it time to write what it has.
    pub(crate) fn interrupt(&mut self, patience: Duration) -> Option<ExitStatus> {
        let _ = kill_process(self.pid(), Signal::INT);
        self.ended_within(patience)
    }

    /// An error about this program, with the end of what it wrote.
    pub(crate) fn error(&self, what: String) -> Error {
        Error::Process { name: self.name, what, said: self.said() }
    }

    /// The end of what it wrote, in a line, without results, which are for programs.
    pub(crate) fn said(&self) -> String {
        let text = fs::read(&self.log).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let words: Vec<_> = text.lines().filter(|line| !line.is_empty() && !line.starts_with('{')).collect();
        let words: Vec<char> = words.join("; ").chars().collect();
        words[words.len().saturating_sub(QUOTE)..].iter().collect()
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    fn ended_within(&mut self, patience: Duration) -> Option<ExitStatus> {
        let deadline = Instant::now() + patience;
        loop {
            match self.ended() {
                None if Instant::now() < deadline => thread::sleep(POLL),
                status => return status,
            }
        }
    }

    fn end(&mut self) {
        if self.ended().is_none() {
            let _ = kill_process(self.pid(), Signal::TERM);
            self.ended_within(END);
        }
        // Workers that outlived their parent, and the program itself when it would not end.
        let _ = kill_process_group(self.pid(), Signal::KILL);
        let _ = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

/// Runs a program to its end; gives all it wrote and how it ended.
pub(crate) fn output(name: &'static str, command: &mut Command) -> Result<(String, ExitStatus), Error> {
    let output = command.stdin(Stdio::null()).output().map_err(|why| cannot_start(name, command, &why))?;
    let text = [output.stdout, output.stderr].concat();
    Ok((String::from_utf8_lossy(&text).trim().to_owned(), output.status))
}

fn cannot_start(name: &'static str, command: &Command, why: &io::Error) -> Error {
    let program = command.get_program().to_string_lossy();
    Error::Process { name, what: format!("cannot be started from {program}: {why}"), said: String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> (tempfile::TempDir, Result<Process, Error>) {
        let directory = tempfile::tempdir().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        let process = Process::start("shell", command, &directory.path().join("log"));
        (directory, process)
    }

    #[test]
    fn a_program_that_gives_up_is_quoted() {
        let (_directory, process) = shell("echo no port left >&2; exit 3");
        let error = process.unwrap().wait_for_line("listening on ", &Stop::default()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "shell ended before it was ready (exit status: 3); it said: no port left"
        );
    }

    #[test]
    fn half_a_line_is_no_line() {
        let (_directory, process) =
            shell("printf 'listening on 127.'; sleep 0.05; echo 0.0.1; exec sleep 60");
        let line = process.unwrap().wait_for_line("listening on ", &Stop::default()).unwrap();
        assert_eq!(line, "127.0.0.1");
    }

    #[test]
    fn descendants_end_with_it() {
        let (_directory, process) = shell("sleep 600 & echo child $!; trap '' TERM; kill -TERM $$; exit 0");
        let mut process = process.unwrap();
        let child = process.wait_for_line("child ", &Stop::default()).unwrap();
        drop(process);
        testkit::poll_until(testkit::PATIENCE, "the descendant to end", || {
            let stat = fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
            // A zombie waits for whoever adopted it; it runs no more.
            (stat.is_empty() || stat.contains(") Z ")).then_some(())
        });
    }

    #[test]
    fn waiting_ends_when_somebody_wants_it_to() {
        let (_directory, process) = shell("exec sleep 600");
        let stop = Stop::default();
        stop.because_of(2);
        let error = process.unwrap().wait(Duration::from_secs(60), &stop, || ()).unwrap_err();
        assert!(matches!(error, Error::Interrupted));
    }
}
