//! [`Server`]: a server that was set up in a directory of its own.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::error::Error;
use crate::process::Process;

/// How a server is set up in a directory of its own.
#[derive(Debug, Clone)]
pub struct Setup {
    /// What it is called in errors.
    pub name: &'static str,
    /// Its executable file.
    pub program: PathBuf,
    /// With which it stays in the foreground.
    pub arguments: Vec<OsString>,
    /// Files of the directory, by name.
    pub files: BTreeMap<String, String>,
    /// Its version as it states it.
    pub version: String,
}

impl Setup {
    /// Writes the files into the directory.
    ///
    /// # Errors
    /// When it takes no files.
    pub fn write(&self, root: &Path) -> Result<(), Error> {
        for (name, text) in &self.files {
            let file = root.join(name);
            fs::write(&file, text).map_err(Error::io("write", &file))?;
        }
        Ok(())
    }

    /// What the server itself says against its configuration, which is in the directory `root`; nothing
    /// where it accepts it. For Apache and nginx, whose option -t asks that.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn refusal(&self, root: &Path) -> Result<Option<String>, Error> {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).arg("-t");
        let output = command.output().map_err(Error::io("start", &self.program))?;
        if output.status.success() {
            return Ok(None);
        }
        let said = String::from_utf8_lossy(&output.stderr).replace(&format!("{}/", root.display()), "");
        let said: Vec<&str> = said.lines().filter(|line| !line.is_empty()).collect();
        Ok(Some(said.join("; ")))
    }
}

/// A running server. Its processes end, and its directory goes, when it is dropped.
#[derive(Debug)]
pub struct Server {
    // In this order: the processes end before their directory goes.
    process: Process,
    root: Option<TempDir>,
}

impl Server {
    /// Starts a server by `command`, which [`Setup::program`] and [`Setup::arguments`] are in, and keeps
    /// its directory; what it writes goes to `log`. It has yet to become ready.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start(
        name: &'static str,
        command: Command,
        log: &Path,
        root: Option<TempDir>,
    ) -> Result<Self, Error> {
        Ok(Self { process: Process::start(name, command, log)?, root })
    }

    /// Gives it this long until it is ready; it is killed at once when dropped.
    pub fn patient(mut self, limit: std::time::Duration) -> Self {
        self.process = self.process.ready_within(limit).ended_within(std::time::Duration::ZERO);
        self
    }

    /// Its first process.
    pub fn process(&mut self) -> &mut Process {
        &mut self.process
    }

    /// The id of its first process.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// Its directory, if it has one.
    pub fn root(&self) -> Option<&Path> {
        self.root.as_ref().map(TempDir::path)
    }

    /// How it ended, as an error, when it should not have.
    pub fn has_died(&mut self) -> Option<Error> {
        self.process.has_died()
    }
}
