//! The generator, `headworks load`, as a process.

use std::path::Path;
use std::time::Duration;

use record::{RunDirectory, Summary};
use traffic::Workload;
use units::{Rate, Span};

use crate::machine::Pinning;
use crate::process::Process;
use crate::spec::Cpus;
use crate::{Error, Stop};

/// How long it may take to write what it measured.
const WRITING: Duration = Duration::from_secs(20);

/// The generator and where it runs.
#[derive(Debug)]
pub(crate) struct Generator<'a> {
    pub(crate) headworks: &'a Path,
    pub(crate) pinning: &'a Pinning,
    pub(crate) cpus: &'a Cpus,
    pub(crate) workload: &'a Workload,
}

/// One run of it.
#[derive(Debug)]
pub(crate) struct Run<'a> {
    /// Host and port.
    pub(crate) authority: &'a str,
    /// The workload's file.
    pub(crate) workload: &'a Path,
    pub(crate) offer: Offer,
    pub(crate) warmup: Span,
    pub(crate) duration: Span,
    pub(crate) seed: u64,
    pub(crate) out: &'a Path,
}

/// How sessions start.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Offer {
    /// Open loop: so many per second, whatever becomes of them.
    Rate(Rate),
    /// Closed loop: always so many at once.
    Closed(u32),
}

impl Generator<'_> {
    /// Offers load and waits for the end of it. When somebody wants the experiment to end, the
    /// generator is given the time to write what it has, and that is what there is then.
    pub(crate) fn run(&self, run: &Run, stop: &Stop, meanwhile: impl FnMut()) -> Result<Summary, Error> {
        let mut command = self.pinning.punctual_command(self.cpus, self.headworks);
        command.arg("load").arg(format!("http://{}", run.authority));
        command.arg("--workload").arg(run.workload);
        match run.offer {
            Offer::Rate(rate) => command.arg("--rate").arg(rate.as_f64().to_string()),
            Offer::Closed(sessions) => command.arg("--connections").arg(sessions.to_string()),
        };
        command.arg("--warmup").arg(run.warmup.to_string());
        command.arg("--duration").arg(run.duration.to_string());
        command.arg("--seed").arg(run.seed.to_string());
        command.arg("--out").arg(run.out).args(["--no-report", "--json", "--quiet"]);
        let mut process = Process::start("load", command, &run.out.join("load.log"))?;
        let limit = Duration::from(run.warmup + run.duration + self.longest_session()) + WRITING;
        let status = match process.wait(limit, stop, meanwhile) {
            Err(Error::Interrupted) => process.interrupt(WRITING),
            status => Some(status?),
        };
        /// 4: measured, and the generator says that the figures are its own rather than the server's.
        const NOT_VALID: i32 = 4;
        match status.and_then(|status| status.code()) {
            Some(0 | NOT_VALID) => Ok(RunDirectory::open(run.out)?.summary()?),
            Some(130 | 143) => RunDirectory::open(run.out)?.summary().map_err(|_| Error::Interrupted),
            _ if stop.signal().is_some() => Err(Error::Interrupted),
            _ => Err(process.error(match status {
                Some(status) => format!("failed ({status})"),
                None => "did not end".to_owned(),
            })),
        }
    }

    /// How long a session lasts when every request just escapes its timeout.
    fn longest_session(&self) -> Span {
        let requests = u64::try_from(self.workload.requests_per_session()).unwrap_or(u64::MAX);
        self.workload.timeout * requests + self.workload.pages.iter().map(|page| page.think).sum()
    }
}
