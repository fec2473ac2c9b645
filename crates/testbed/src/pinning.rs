//! [`Pinning`]: which processor serves and which one asks, so that neither takes time from the other.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::thread::{CpuSet, sched_getaffinity};

use crate::cpus::Cpus;
use crate::error::Error;
use crate::program::program;

/// Arguments of chrt(1): the lowest real-time priority, before all programs that have none.
const FIRST: [&str; 2] = ["--fifo", "1"];

/// How programs are put on processors, and made to end when the process that started them is killed.
#[derive(Debug, Clone)]
pub struct Pinning {
    taskset: Option<PathBuf>,
    setpriv: Option<PathBuf>,
    /// Runs a program before all ordinary ones, where that is allowed.
    chrt: Option<PathBuf>,
    /// Why server, what stands in front of it and generator are not kept apart.
    why_not: Option<String>,
}

impl Pinning {
    /// Keeps server and generator apart, as far as this process may.
    pub fn look(server: &Cpus, front: Option<&Cpus>, generator: &Cpus) -> Self {
        let allowed = sched_getaffinity(None).unwrap_or_default();
        let taskset = program("taskset");
        let why_not = if allowed.count() < 2 {
            Some("there is one processor: server and generator share it".to_owned())
        } else if let Some(missing) = [Some(server), front, Some(generator)]
            .into_iter()
            .flatten()
            .find_map(|cpus| missing(&allowed, cpus))
        {
            Some(format!("processor {missing} is not there: server and generator are not kept apart"))
        } else if taskset.is_none() {
            Some("taskset is not installed (util-linux): server and generator are not kept apart".to_owned())
        } else if server.overlaps(generator) {
            Some(format!("server ({server}) and generator ({generator}) share processors"))
        } else {
            None
        };
        let taskset = if why_not.is_none() { taskset } else { None };
        // Not on the server's processors, whose time it would take. What stands in front of the server gives way to it: requests
        // that leave late are not those that were asked for.
        let chrt = program("chrt").filter(|chrt| taskset.is_some() && may_run_first(chrt));
        let shared = front.filter(|front| why_not.is_none() && front.overlaps(generator)).map(|front| {
            format!("what stands in front of the server ({front}) and the generator ({generator}) share processors")
        });
        Self { taskset, setpriv: program("setpriv"), chrt, why_not: why_not.or(shared) }
    }

    /// For a program on any processor.
    pub fn anywhere() -> Self {
        Self { taskset: None, setpriv: program("setpriv"), chrt: None, why_not: None }
    }

    /// For a generator alone, on processors of its own: it goes before all else that runs there.
    ///
    /// # Errors
    /// When one of them is not there.
    pub fn alone(cpus: &Cpus) -> Result<Self, Error> {
        let allowed = sched_getaffinity(None).unwrap_or_default();
        if let Some(missing) = missing(&allowed, cpus) {
            return Err(Error::NoProcessor(missing));
        }
        let taskset = program("taskset")
            .ok_or(Error::Missing { program: "taskset".to_owned(), package: "util-linux" })?;
        let chrt = program("chrt").filter(|chrt| may_run_first(chrt));
        Ok(Self { taskset: Some(taskset), chrt, ..Self::anywhere() })
    }

    /// For a processor that has to be had: a command fails where it cannot.
    pub fn strict() -> Self {
        let [taskset, setpriv] = ["taskset", "setpriv"].map(|tool| Some(PathBuf::from(tool)));
        Self { taskset, setpriv, chrt: None, why_not: None }
    }

    /// Why server, what stands in front of it and generator are not kept apart, in a sentence.
    pub fn why_not(&self) -> Option<&str> {
        self.why_not.as_deref()
    }

    /// Like [`Pinning::command`], for a program that has to keep time: what else happens to run on
    /// its processor does not make it late, if this user may have that (`CAP_SYS_NICE`).
    pub fn punctual_command(&self, cpus: &Cpus, program: &Path) -> Command {
        let Some(chrt) = &self.chrt else { return self.command(cpus, program) };
        let mut command = self.command(cpus, chrt);
        command.args(FIRST).arg(program);
        command
    }

    /// A command that runs `program` on `cpus`.
    pub fn command(&self, cpus: &Cpus, program: &Path) -> Command {
        let mut words = self.words(cpus);
        words.push(program.into());
        let mut words = words.into_iter();
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words);
        command
    }

    /// Words that run what follows them on `cpus`. Both wrappers replace themselves by the program,
    /// so that its process id is the one that was started.
    pub fn words(&self, cpus: &Cpus) -> Vec<OsString> {
        let mut words: Vec<OsString> = Vec::new();
        if let Some(taskset) = &self.taskset {
            words.extend([taskset.into(), "-c".into(), cpus.to_string().into()]);
        }
        if let Some(setpriv) = &self.setpriv {
            // The kernel ends it when the process that started it is gone, even by SIGKILL.
            words.extend([setpriv.into(), "--pdeathsig".into(), "TERM".into(), "--".into()]);
        }
        words
    }
}

fn may_run_first(chrt: &Path) -> bool {
    let mut command = Command::new(chrt);
    command.args(FIRST).arg("true").stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

fn missing(allowed: &CpuSet, wanted: &Cpus) -> Option<usize> {
    wanted.numbers().find(|number| *number >= CpuSet::MAX_CPU || !allowed.is_set(*number))
}
