//! The generator, `headworks load`, as a process.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use record::{RunDirectory, Summary};
use testbed::{Process, Stop, Testbed};
use traffic::Workload;
use units::{Rate, Span};

use crate::error::Error;

/// How long it may take to write what it measured.
const WRITE_TIMEOUT: Duration = Duration::from_secs(20);

/// The generator and where it runs.
#[derive(Debug)]
pub(crate) struct Generator<'a> {
    pub(crate) headworks: &'a Path,
    pub(crate) testbed: &'a Testbed<'a>,
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
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Offer {
    /// Open loop: so many per second, whatever becomes of them.
    Rate(Rate),
    /// Closed loop: always so many at once.
    Closed(u32),
}

impl Offer {
    pub(crate) fn tell(self, command: &mut Command) {
        match self {
            Self::Rate(rate) => command.arg("--rate").arg(rate.as_f64().to_string()),
            Self::Closed(sessions) => command.arg("--connections").arg(sessions.to_string()),
        };
    }

    /// For the name of a directory.
    pub(crate) fn name(self) -> String {
        match self {
            Self::Rate(rate) => format!("rate-{:.0}", rate.as_f64()),
            Self::Closed(sessions) => format!("clients-{sessions}"),
        }
    }
}

/// What it measures goes into the directory `out`, and nothing to the terminal.
pub(crate) fn to_record(command: &mut Command, out: &Path) {
    command.arg("--out").arg(out).args(["--no-report", "--json", "--quiet"]);
}

/// Has it do what the command says, which takes up to `length`. When an end is asked for, it is given the
/// time to write what it has, and that is what there is then.
pub(crate) fn carry_out(
    command: Command,
    out: &Path,
    length: Span,
    stop: &Stop,
    meanwhile: impl FnMut(),
) -> Result<Summary, Error> {
    let mut process = Process::start("load", command, &out.join("load.log"))?;
    let status = match process.wait(Duration::from(length) + WRITE_TIMEOUT, stop, meanwhile) {
        Err(testbed::Error::Interrupted) => process.interrupt(WRITE_TIMEOUT),
        status => Some(status?),
    };
    /// 4: measured, and the generator says that the figures are its own rather than the server's; 3: an
    /// objective is missed.
    const MEASURED: [i32; 3] = [0, 3, 4];
    match status.and_then(|status| status.code()) {
        Some(code) if MEASURED.contains(&code) => Ok(RunDirectory::open(out)?.summary()?),
        Some(130 | 143) => RunDirectory::open(out)?.summary().map_err(|_| Error::Interrupted),
        _ if stop.signal().is_some() => Err(Error::Interrupted),
        Some(2) => Err(Error::Refused(process.said())),
        _ => Err(process
            .error(match status {
                Some(status) => format!("failed ({status})"),
                None => "did not end".to_owned(),
            })
            .into()),
    }
}

impl Generator<'_> {
    /// Offers load and waits for the end of it. When an end of the experiment is asked for, the
    /// generator is given the time to write what it has, and that is what there is then.
    pub(crate) fn run(&self, run: &Run, stop: &Stop, meanwhile: impl FnMut()) -> Result<Summary, Error> {
        let mut command = self.testbed.generator(self.headworks);
        command.arg("load").arg(format!("http://{}", run.authority));
        command.arg("--workload").arg(run.workload);
        run.offer.tell(&mut command);
        command.arg("--warmup").arg(run.warmup.to_string());
        command.arg("--duration").arg(run.duration.to_string());
        command.arg("--seed").arg(run.seed.to_string());
        to_record(&mut command, run.out);
        carry_out(command, run.out, run.warmup + run.duration + self.longest_session(), stop, meanwhile)
    }

    /// How long a session lasts when every request just escapes its timeout.
    fn longest_session(&self) -> Span {
        let requests = u64::try_from(self.workload.requests_per_session()).unwrap_or(u64::MAX);
        self.workload.timeout * requests + self.workload.longest_pauses()
    }
}
