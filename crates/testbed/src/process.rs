//! [`Process`]: a program that was started, and that never outlives the value.

use std::fs::{self, File};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::error::Error;
use crate::stop::Stop;
use crate::wait;

/// How long a program may take until it says that it is ready.
const START_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a program may take to end after SIGTERM before it is killed.
const END_TIMEOUT: Duration = Duration::from_secs(5);

const POLL: Duration = Duration::from_millis(5);

/// How many characters of what a program wrote stand in an error.
const MAX_QUOTE: usize = 600;

/// A running program, ended when dropped: asked by SIGTERM, then killed.
#[derive(Debug)]
pub struct Process {
    name: &'static str,
    child: Child,
    /// Where what it writes is kept; nothing where its pipes are read.
    log: Option<PathBuf>,
    group: Group,
    start: Duration,
    end: Duration,
}

/// The process group that a program is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Group {
    /// Its own: the terminal's Ctrl-C reaches only who started it, and no descendant escapes.
    Own,
    /// That of who started it, with whom Ctrl-C ends it.
    Callers,
}

impl Process {
    /// Starts `command` in a process group of its own; all it writes goes to the file `log`.
    ///
    /// # Errors
    /// When there is no such program, or no such file can be made.
    pub fn start(name: &'static str, mut command: Command, log: &Path) -> Result<Self, Error> {
        let file = File::create(log).map_err(Error::io("create", log))?;
        let also = file.try_clone().map_err(Error::io("create", log))?;
        command.stdin(Stdio::null()).stdout(file).stderr(also).process_group(0);
        let child = command.spawn().map_err(|why| cannot_start(name, &command, &why))?;
        Ok(Self::of(name, child, Some(log.to_owned()), Group::Own))
    }

    /// Starts `command` in a process group of its own; its standard output goes to a file of its own, and what it
    /// complains of to the file `log`.
    ///
    /// # Errors
    /// When there is no such program, or no such files can be made.
    pub fn with_output(
        name: &'static str,
        mut command: Command,
        output: &Path,
        log: &Path,
    ) -> Result<Self, Error> {
        let file = |path: &Path| File::create(path).map_err(Error::io("create", path));
        command.stdin(Stdio::null()).stdout(file(output)?).stderr(file(log)?).process_group(0);
        let child = command.spawn().map_err(|why| cannot_start(name, &command, &why))?;
        Ok(Self::of(name, child, Some(log.to_owned()), Group::Own))
    }

    /// Starts `command` in the caller's process group; the caller reads what it writes.
    ///
    /// # Errors
    /// When there is no such program.
    pub fn piped(
        name: &'static str,
        command: &mut Command,
    ) -> Result<(Self, ChildStdout, ChildStderr), Error> {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|why| cannot_start(name, command, &why))?;
        let pipes = child.stdout.take().zip(child.stderr.take());
        let process = Self::of(name, child, None, Group::Callers);
        let (stdout, stderr) = pipes.ok_or_else(|| process.error("has no pipes".to_owned()))?;
        Ok((process, stdout, stderr))
    }

    fn of(name: &'static str, child: Child, log: Option<PathBuf>, group: Group) -> Self {
        Self { name, child, log, group, start: START_TIMEOUT, end: END_TIMEOUT }
    }

    /// Gives it this long until it is ready.
    pub fn ready_within(mut self, limit: Duration) -> Self {
        self.start = limit;
        self
    }

    /// Gives it this long to end once it was asked to; killed at once when that is zero.
    pub fn ended_within(mut self, limit: Duration) -> Self {
        self.end = limit;
        self
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Its exit status, when it has ended.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// How it ended, as an error, when it should not have.
    pub fn has_died(&mut self) -> Option<Error> {
        let status = self.ended()?;
        Some(self.error(format!("died during the test ({status})")))
    }

    /// Waits for a line that begins with `prefix` in its log; gives the rest of the line.
    ///
    /// # Errors
    /// When it ends before, or takes too long, or an end is asked for.
    pub fn wait_for_line(&mut self, prefix: &str, stop: &Stop) -> Result<String, Error> {
        self.wait_until_ready(&format!("did not say \"{prefix}\""), stop, |process| {
            let text = process.text();
            let whole = &text[..text.rfind('\n').unwrap_or(0)];
            whole.lines().find_map(|line| line.strip_prefix(prefix)).map(str::to_owned)
        })
    }

    /// Waits until it listens on this port of the loopback interface. A namespace that nothing
    /// outside can connect into has a table of sockets that can be read.
    ///
    /// # Errors
    /// When it ends before, or takes too long, or an end is asked for.
    pub fn wait_until_it_listens(&mut self, port: u16, stop: &Stop) -> Result<(), Error> {
        let table = format!("/proc/{}/net/tcp", self.id());
        self.wait_until_ready("does not listen", stop, |_| {
            fs::read_to_string(&table).is_ok_and(|table| listens(&table, port)).then_some(())
        })
    }

    /// Waits until `probe` finds what it looks for; what it does `not` do stands in the error.
    ///
    /// # Errors
    /// When it ends before, or takes too long, or an end is asked for.
    pub fn wait_until_ready<T>(
        &mut self,
        not: &str,
        stop: &Stop,
        probe: impl Fn(&Self) -> Option<T>,
    ) -> Result<T, Error> {
        let deadline = Instant::now() + self.start;
        loop {
            let status = self.ended();
            if let Some(found) = probe(self) {
                return Ok(found);
            }
            if let Some(status) = status {
                return Err(self.error(format!("ended before it was ready ({status})")));
            }
            if Instant::now() >= deadline {
                return Err(self.error(format!("{not} within {} s", self.start.as_secs())));
            }
            stop.pause(POLL)?;
        }
    }

    /// Waits until it has ended by itself; after `limit` it is killed and an error.
    ///
    /// # Errors
    /// Then, and when an end is asked for.
    pub fn wait(
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
    pub fn interrupt(&mut self, patience: Duration) -> Option<ExitStatus> {
        self.stop(Signal::INT, patience)
    }

    /// Asks it to end by a signal, and waits until it has; nothing when it runs on.
    pub fn stop(&mut self, signal: Signal, patience: Duration) -> Option<ExitStatus> {
        let _ = kill_process(self.pid(), signal);
        self.wait_to_end(patience)
    }

    /// How it has ended, or nothing when it runs on after `limit`.
    pub fn wait_to_end(&mut self, limit: Duration) -> Option<ExitStatus> {
        wait::ended_within(&mut self.child, limit).ok().flatten()
    }

    /// An error about this program, with the end of what it wrote.
    pub fn error(&self, what: String) -> Error {
        Error::Process { name: self.name, what, said: self.said() }
    }

    /// The end of what it wrote, in a line, without results, which are for programs.
    pub fn said(&self) -> String {
        let text = self.text();
        let words: Vec<_> = text.lines().filter(|line| !line.is_empty() && !line.starts_with('{')).collect();
        let words: Vec<char> = words.join("; ").chars().collect();
        words[words.len().saturating_sub(MAX_QUOTE)..].iter().collect()
    }

    /// All that it wrote to its log.
    pub fn text(&self) -> String {
        let text = self.log.as_ref().and_then(|log| fs::read(log).ok()).unwrap_or_default();
        String::from_utf8_lossy(&text).into_owned()
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    fn end(&mut self) {
        if self.ended().is_none() && !self.end.is_zero() {
            self.stop(Signal::TERM, self.end);
        }
        match self.group {
            // Workers that outlived their parent, and the program itself when it would not end.
            Group::Own => {
                let _ = kill_process_group(self.pid(), Signal::KILL);
            }
            Group::Callers => {
                let _ = self.child.kill();
            }
        }
        let _ = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

fn cannot_start(name: &'static str, command: &Command, why: &io::Error) -> Error {
    let program = command.get_program().to_string_lossy();
    Error::Process { name, what: format!("cannot be started from {program}: {why}"), said: String::new() }
}

/// State 0A is LISTEN (`include/net/tcp_states.h`).
fn listens(table: &str, port: u16) -> bool {
    let address = format!("0100007F:{port:04X}");
    table.lines().any(|line| {
        let words: Vec<_> = line.split_whitespace().collect();
        words.get(1) == Some(&address.as_str()) && words.get(3) == Some(&"0A")
    })
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
    fn a_listening_socket_is_told_from_a_connection() {
        let listening =
            "  sl  local_address rem_address   st\n   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000\n";
        assert!(listens(listening, 8080));
        assert!(!listens(listening, 8081));
        assert!(!listens(&listening.replace(" 0A ", " 01 "), 8080));
    }

    #[test]
    fn half_a_line_is_not_a_line() {
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
            // A zombie waits for the process that adopted it; it runs no more.
            (stat.is_empty() || stat.contains(") Z ")).then_some(())
        });
    }

    #[test]
    fn waiting_ends_when_an_end_is_asked_for() {
        let (_directory, process) = shell("exec sleep 600");
        let stop = Stop::default();
        stop.because_of(2);
        let error = process.unwrap().wait(Duration::from_secs(60), &stop, || ()).unwrap_err();
        assert!(matches!(error, Error::Interrupted));
    }
}
