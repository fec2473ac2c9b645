//! [`Terminal`]: a terminal that a test types on.

use std::io::{Read as _, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use crate::{PATIENCE, poll_until};

/// A shell on a terminal of its own, which ends when it is dropped.
#[derive(Debug)]
pub struct Terminal {
    child: Child,
    keys: ChildStdin,
    screen: Arc<Mutex<String>>,
}

impl Terminal {
    /// Runs `script` in a terminal of this size; its keys come from the test.
    #[track_caller]
    pub fn start(columns: u16, rows: u16, script: &str) -> Self {
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
            .expect("script is part of util-linux");
        let screen = Arc::new(Mutex::new(String::new()));
        let mut output = child.stdout.take().expect("stdout is piped");
        let written = Arc::clone(&screen);
        std::thread::spawn(move || {
            let mut piece = [0; 4096];
            while let Ok(length @ 1..) = output.read(&mut piece) {
                written
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push_str(&String::from_utf8_lossy(&piece[..length]));
            }
        });
        Self { keys: child.stdin.take().expect("stdin is piped"), child, screen }
    }

    /// Waits until `text` has been written, and gives everything up to then.
    #[track_caller]
    pub fn wait_for(&self, text: &str) -> String {
        let written = || self.screen.lock().unwrap_or_else(PoisonError::into_inner).clone();
        poll_until(PATIENCE, &format!("{text:?} on the terminal"), || {
            Some(written()).filter(|written| written.contains(text))
        })
    }

    /// Presses keys.
    pub fn press(&mut self, keys: &str) {
        self.keys
            .write_all(keys.as_bytes())
            .and_then(|()| self.keys.flush())
            .expect("the terminal takes keys");
    }

    /// Everything that the terminal was told, when the shell has ended after it said `ended`.
    #[track_caller]
    pub fn end(mut self) -> String {
        let status =
            poll_until(PATIENCE, "the shell to end", || self.child.try_wait().expect("a child of ours"));
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
