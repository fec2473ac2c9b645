//! [`Process`]: a program that ends when the test does.

use std::io::{BufRead, BufReader, Read};
use std::net::{SocketAddr, TcpStream};
use std::process::{ChildStderr, ChildStdout, Command, ExitStatus};
use std::time::Duration;

use rustix::process::Signal;

use crate::poll::{PATIENCE, poll_until};

/// A running program with its output read by the test; killed when dropped.
#[derive(Debug)]
pub struct Process {
    program: testbed::Process,
    stdout: BufReader<ChildStdout>,
    stderr: ChildStderr,
}

impl Process {
    /// Starts `command` with standard input closed.
    #[track_caller]
    pub fn start(command: &mut Command) -> Self {
        let (program, stdout, stderr) = testbed::Process::piped("program", command)
            .unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let program = program.ended_within(Duration::ZERO);
        Self { program, stdout: BufReader::new(stdout), stderr }
    }

    /// Starts a server, and waits until it takes connections at an address.
    #[track_caller]
    pub fn listening(command: &mut Command, at: SocketAddr) -> Self {
        let server = Self::start(command);
        let what = command.get_program().to_string_lossy();
        poll_until(PATIENCE, &format!("{what} to listen at {at}"), || TcpStream::connect(at).ok());
        server
    }

    /// Reads lines of standard output up to one that begins with `prefix`; gives the rest of it.
    ///
    /// Panics when the program ends its output before, with what it said on standard error.
    #[track_caller]
    pub fn wait_for_line(&mut self, prefix: &str) -> String {
        loop {
            let mut line = String::new();
            if self.stdout.read_line(&mut line).expect("standard output is text") == 0 {
                panic!("ended without a line {prefix:?}; it said: {}", self.rest_of_stderr());
            }
            if let Some(rest) = line.trim_end().strip_prefix(prefix) {
                return rest.to_owned();
            }
        }
    }

    /// The address after `PREFIXhttp://` in the program's output.
    #[track_caller]
    pub fn wait_for_address(&mut self, prefix: &str) -> SocketAddr {
        let address = self.wait_for_line(&format!("{prefix}http://"));
        address.trim_end_matches('/').parse().unwrap_or_else(|_| panic!("{address:?} is not an address"))
    }

    /// The reference server of the program `headworks`, with more `arguments`, and where it listens.
    #[track_caller]
    pub fn origin(headworks: &str, arguments: &[&str]) -> (Self, SocketAddr) {
        let mut command = Command::new(headworks);
        let mut server = Self::start(command.args(["origin", "--listen", "127.0.0.1:0"]).args(arguments));
        let address = server.wait_for_address("listening on ");
        (server, address)
    }

    /// The process id.
    pub fn id(&self) -> u32 {
        self.program.id()
    }

    /// Asks the program to end with SIGTERM and waits until it has.
    #[track_caller]
    pub fn terminate(&mut self) -> ExitStatus {
        self.program.stop(Signal::TERM, PATIENCE).expect("a program that ends when it is asked to")
    }

    /// Waits until the program has ended.
    #[track_caller]
    pub fn wait(&mut self) -> ExitStatus {
        self.program.wait_to_end(PATIENCE).expect("a program that ends by itself")
    }

    /// Everything on standard error not yet read; blocks until the program has ended.
    pub fn rest_of_stderr(&mut self) -> String {
        let mut text = String::new();
        // What could be read before an error is still worth showing.
        let _ = self.stderr.read_to_string(&mut text);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Process {
        Process::start(Command::new("sh").args(["-c", script]))
    }

    #[test]
    fn the_line_is_found_and_the_program_ended() {
        let mut process = shell("echo starting; echo listening on http://127.0.0.1:4711; exec sleep 100");
        assert_eq!(process.wait_for_address("listening on "), "127.0.0.1:4711".parse().unwrap());
        assert!(!process.terminate().success());
    }

    #[test]
    #[should_panic(expected = "no port left")]
    fn a_program_that_gives_up_is_quoted() {
        shell("echo no port left >&2").wait_for_line("listening on ");
    }
}
