//! `headworks load` on a terminal: the live view comes, obeys keys, and gives the terminal back.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex};

use testkit::{PATIENCE, Process, poll_until};

const HEADWORKS: &str = env!("CARGO_BIN_EXE_headworks");
const ENTER_ALTERNATE_SCREEN: &str = "\x1b[?1049h";
const LEAVE_ALTERNATE_SCREEN: &str = "\x1b[?1049l";

/// A shell on a terminal of its own.
struct Terminal {
    child: Child,
    keys: ChildStdin,
    screen: Arc<Mutex<String>>,
}

impl Terminal {
    /// Runs `script` in a terminal of this size; its keys come from the test.
    fn start(columns: u16, rows: u16, script: &str) -> Self {
        // Keys that are signals are for the program, not for the shell.
        let script = format!("trap : INT; stty columns {columns} rows {rows}; {script}");
        let mut child = Command::new("script")
            .args(["--quiet", "--return", "--command", &script, "/dev/null"])
            .env("TERM", "xterm-256color")
            .env("SHELL", "/bin/sh")
            .env_remove("NO_COLOR")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let screen = Arc::new(Mutex::new(String::new()));
        let mut output = child.stdout.take().unwrap();
        let written = Arc::clone(&screen);
        std::thread::spawn(move || {
            let mut piece = [0; 4096];
            while let Ok(length @ 1..) = output.read(&mut piece) {
                written.lock().unwrap().push_str(&String::from_utf8_lossy(&piece[..length]));
            }
        });
        Self { keys: child.stdin.take().unwrap(), child, screen }
    }

    /// Waits until `text` has been written, and gives everything up to then.
    #[track_caller]
    fn wait_for(&self, text: &str) -> String {
        let written = || self.screen.lock().unwrap().clone();
        poll_until(PATIENCE, &format!("{text:?} on the terminal"), || {
            Some(written()).filter(|written| written.contains(text))
        })
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }

    /// What the terminal was told after the shell ended, if it did.
    #[track_caller]
    fn end(mut self) -> String {
        let status = poll_until(PATIENCE, "the shell to end", || self.child.try_wait().unwrap());
        assert!(status.success(), "{status}");
        self.wait_for("ended\r\n")
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn origin() -> (Process, String) {
    let mut server = Process::start(Command::new(HEADWORKS).args(["origin", "--listen", "127.0.0.1:0"]));
    let address = server.wait_for_address("listening on ");
    (server, format!("http://{address}/bytes/100"))
}

/// A run that only a key ends, and after it the state of the terminal.
fn endless(url: &str) -> String {
    format!("{HEADWORKS} load {url} --connections 2 --duration 10m; echo code $?; stty -a; echo ended")
}

#[track_caller]
fn is_given_back(text: &str) {
    let (_, after) = text.rsplit_once(LEAVE_ALTERNATE_SCREEN).unwrap_or_else(|| panic!("never left: {text}"));
    assert!(after.contains("code 130"), "{after}");
    for mode in ["isig", "icanon", "echo", "opost"] {
        assert!(after.split([' ', '\r', '\n', ';']).any(|word| word == mode), "{mode}: {after}");
    }
}

#[test]
fn a_key_ends_the_run_and_the_terminal_is_as_before() {
    let (_server, url) = origin();
    for key in ["q", "\x03"] {
        let mut terminal = Terminal::start(100, 30, &endless(&url));
        terminal.wait_for(ENTER_ALTERNATE_SCREEN);
        terminal.wait_for("processing");
        terminal.press("h");
        terminal.wait_for("keys and words");
        terminal.press("p");
        terminal.wait_for("paused");
        terminal.press(key);
        let text = terminal.end();
        is_given_back(&text);
        let (_, after) = text.rsplit_once(LEAVE_ALTERNATE_SCREEN).unwrap();
        assert!(after.contains("Interrupted"), "the summary comes after the view: {after}");
    }
}

#[test]
fn a_small_terminal_and_one_that_is_in_use_get_lines() {
    let (_server, url) = origin();
    let mut small = Terminal::start(59, 30, &endless(&url));
    let text = small.wait_for("measuring");
    assert!(!text.contains(ENTER_ALTERNATE_SCREEN), "{text}");
    small.press("\x03");
    assert!(small.end().contains("code 130"));

    // In the background a program that takes the terminal over would be stopped.
    let script = format!("set -m; {HEADWORKS} load {url} --duration 2s & wait $!; echo code $?; echo ended");
    let text = Terminal::start(100, 30, &script).end();
    assert!(text.contains("measuring") && !text.contains(ENTER_ALTERNATE_SCREEN), "{text}");
    assert!(text.contains("code 0") || text.contains("code 4"), "{text}");
}
