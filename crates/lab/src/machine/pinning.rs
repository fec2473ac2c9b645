//! [`Pinning`]: which processor serves and which one asks, so that neither takes time from the other.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::thread::{CpuSet, sched_getaffinity};

use crate::Error;
use crate::spec::{Cpus, NoCpus};

/// How programs are put on processors, and made to end when the lab is killed.
#[derive(Debug, Clone)]
pub(crate) struct Pinning {
    taskset: Option<PathBuf>,
    setpriv: Option<PathBuf>,
    /// Runs a program before all ordinary ones, where that is allowed.
    chrt: Option<PathBuf>,
    /// Why there is none.
    pub(crate) why_not: Option<String>,
}

impl Pinning {
    /// Looks at what this process may use.
    pub(crate) fn look(server: &Cpus, generator: &Cpus) -> Self {
        let allowed = sched_getaffinity(None).unwrap_or_default();
        let taskset = program("taskset");
        let why_not = if allowed.count() < 2 {
            Some("there is one processor: server and generator share it".to_owned())
        } else if let Some(missing) = missing(&allowed, server).or_else(|| missing(&allowed, generator)) {
            Some(format!("processor {missing} is not there: server and generator are not kept apart"))
        } else if taskset.is_none() {
            Some("taskset is not installed (util-linux): server and generator are not kept apart".to_owned())
        } else if server.numbers().any(|number| generator.numbers().any(|other| other == number)) {
            Some(format!("server ({server}) and generator ({generator}) share processors"))
        } else {
            None
        };
        let taskset = if why_not.is_none() { taskset } else { None };
        // Only on a processor of its own: on the server's it would take the server's time.
        let chrt = program("chrt").filter(|chrt| taskset.is_some() && may_run_first(chrt));
        Self { taskset, setpriv: program("setpriv"), chrt, why_not }
    }

    /// For a generator alone: on processors of its own, where it goes before whatever else runs there, or on any.
    ///
    /// # Errors
    /// When they are no processors, or not there.
    pub(crate) fn of_generator(cpus: Option<&str>) -> Result<(Self, Cpus), Error> {
        let anywhere = Self { taskset: None, setpriv: program("setpriv"), chrt: None, why_not: None };
        let Some(text) = cpus else { return Ok((anywhere, Cpus::one(0))) };
        let wrong = |why| Error::Cpus { cpus: text.to_owned(), why };
        let cpus: Cpus = text.parse().map_err(|why: NoCpus| wrong(why.to_string()))?;
        let allowed = sched_getaffinity(None).unwrap_or_default();
        if let Some(missing) = missing(&allowed, &cpus) {
            return Err(wrong(format!("processor {missing} is not there, or not for this process")));
        }
        let taskset = program("taskset")
            .ok_or(Error::Missing { program: "taskset".to_owned(), package: "util-linux" })?;
        let chrt = program("chrt").filter(|chrt| may_run_first(chrt));
        Ok((Self { taskset: Some(taskset), chrt, ..anywhere }, cpus))
    }

    /// Like [`Pinning::command`], for a program that has to keep time: what else happens to run on
    /// its processor does not make it late, if this user may have that (`CAP_SYS_NICE`).
    pub(crate) fn punctual_command(&self, cpus: &Cpus, program: &Path) -> Command {
        let Some(chrt) = &self.chrt else { return self.command(cpus, program) };
        let mut command = self.command(cpus, chrt);
        command.args(FIRST).arg(program);
        command
    }

    /// A command that runs `program` on `cpus`. Both wrappers replace themselves by the program,
    /// so that its process id is the one that was started.
    pub(crate) fn command(&self, cpus: &Cpus, program: &Path) -> Command {
        let mut words: Vec<std::ffi::OsString> = Vec::new();
        if let Some(taskset) = &self.taskset {
            words.extend([taskset.into(), "-c".into(), cpus.to_string().into()]);
        }
        if let Some(setpriv) = &self.setpriv {
            // The kernel ends it when the lab is gone, even when the lab could not (SIGKILL).
            words.extend([setpriv.into(), "--pdeathsig".into(), "TERM".into(), "--".into()]);
        }
        words.push(program.into());
        let mut words = words.into_iter();
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words);
        command
    }
}

/// Arguments of chrt(1): the lowest real-time priority, before whatever has none.
const FIRST: [&str; 2] = ["--fifo", "1"];

fn may_run_first(chrt: &Path) -> bool {
    let mut command = Command::new(chrt);
    command.args(FIRST).arg("true").stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

fn missing(allowed: &CpuSet, wanted: &Cpus) -> Option<usize> {
    wanted.numbers().find(|number| *number >= CpuSet::MAX_CPU || !allowed.is_set(*number))
}

/// Where a program is, on the path or where Debian puts servers.
pub(crate) fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(["/usr/sbin".into(), "/usr/bin".into()])
        .map(|directory| directory.join(name))
        .find(|file| is_program(file))
}

/// Whether it is a file that somebody may run.
pub(crate) fn is_program(file: &Path) -> bool {
    file.metadata().is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
}
