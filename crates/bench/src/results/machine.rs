//! The machine: whether it is free to measure on, and how it is described beside the figures.

use std::fmt;
use std::fs;
use std::time::Duration;

use anyhow::{Context, bail};
use record::Environment;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde::Serialize;
use stats::Spread;

/// Above this share of all processors in other hands, figures are the others' too.
const QUIET: f64 = 0.05;

/// Counters of `/proc/stat` since the machine started, in its ticks, of all processors together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Processors {
    idle: u64,
    steal: u64,
    all: u64,
}

/// What the processors did between two readings, as shares of all their time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Shares {
    /// Not idle, `steal` included.
    pub(crate) busy: f64,
    /// Held back by the hypervisor.
    pub(crate) steal: f64,
}

impl Processors {
    pub(crate) fn now() -> anyhow::Result<Self> {
        let text = fs::read_to_string("/proc/stat").context("cannot read /proc/stat")?;
        Self::parse(&text).context("cannot understand /proc/stat")
    }

    // proc_stat(5): user nice system idle iowait irq softirq steal guest guest_nice; the guests
    // are in user and nice already.
    fn parse(text: &str) -> Option<Self> {
        let line = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
        let ticks: Vec<u64> =
            line.split_whitespace().take(8).map(str::parse).collect::<Result<_, _>>().ok()?;
        let [_, _, _, idle, iowait, _, _, steal] = ticks[..] else { return None };
        Some(Self { idle: idle + iowait, steal, all: ticks.iter().sum() })
    }

    pub(crate) fn since(self, before: Self) -> Shares {
        let all = self.all.saturating_sub(before.all).max(1) as f64;
        let share = |now: u64, then: u64| now.saturating_sub(then) as f64 / all;
        Shares { busy: 1.0 - share(self.idle, before.idle), steal: share(self.steal, before.steal) }
    }
}

/// The share of all processors that is in use while this program does nothing for a second.
pub(crate) fn busy() -> anyhow::Result<f64> {
    let before = Processors::now()?;
    std::thread::sleep(Duration::from_secs(1));
    Ok(Processors::now()?.since(before).busy)
}

/// What others did to the figures.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Noise {
    before: f64,
    /// Shares of the processors while runs lasted, in the median and at most.
    others: [f64; 2],
    steal: [f64; 2],
}

impl Noise {
    /// `busy` is the share of the processors in use before the first run; of each run, what others
    /// used and what all processors did.
    pub(crate) fn of(busy: f64, runs: impl Iterator<Item = (f64, Shares)>) -> Self {
        let (others, steal): (Vec<_>, Vec<_>) = runs.map(|(others, all)| (others, all.steal)).unzip();
        let figures = |shares| Spread::of(shares).map_or([0.0; 2], |spread| [spread.median, spread.most]);
        Self { before: busy, others: figures(others), steal: figures(steal) }
    }

    /// A paragraph if the machine was not free, or nothing.
    pub(crate) fn warning(&self) -> String {
        if self.before <= QUIET {
            return String::new();
        }
        let percent = self.before * 100.0;
        format!("**The machine was not free:** others used {percent:.0} % of it before the first run.\n\n")
    }

    /// A sentence.
    pub(crate) fn meanwhile(&self) -> String {
        let [others, most] = self.others.map(|share| share * 100.0);
        let [steal, most_steal] = self.steal.map(|share| share * 100.0);
        format!(
            "While runs lasted, others used {others:.1} % of the processors in the median and {most:.1} % at most (stolen by the hypervisor: {steal:.1} % and {most_steal:.1} %)."
        )
    }
}

/// Refuses a machine that others use.
pub(crate) fn must_be_quiet(busy: f64, force: bool) -> anyhow::Result<()> {
    if busy <= QUIET || force {
        return Ok(());
    }
    bail!(
        "others use {:.0} % of the processors, above {:.0} % their work would be in the figures; end it, or measure nevertheless with --force",
        busy * 100.0,
        QUIET * 100.0
    )
}

/// Ends what only root can do; `why` is the beginning of a sentence.
///
/// # Errors
/// When another user has started this.
pub(crate) fn must_be_root(why: &str) -> anyhow::Result<()> {
    if !rustix::process::geteuid().is_root() {
        bail!("{why}; start this as root");
    }
    Ok(())
}

/// Lets what is started from here open as many descriptors as this user may, which have to be this
/// many at least.
pub(crate) fn raise_descriptors(least: u64) -> anyhow::Result<()> {
    let limit = getrlimit(Resource::Nofile);
    if let Some(most) = limit.maximum.filter(|most| *most < least) {
        bail!("{least} descriptors are needed and the hard limit is {most}; raise it (ulimit -Hn)");
    }
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum })
        .context("cannot raise the limit of descriptors")
}

/// What a reader has to know of the machine to place the figures.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Host {
    pub(crate) cpu: String,
    pub(crate) processors: u32,
    pub(crate) memory_bytes: u64,
    pub(crate) kernel: String,
    pub(crate) system: String,
    pub(crate) date: String,
    /// The commit that was measured, with `-dirty` when files differed from it.
    pub(crate) commit: String,
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { processors, cpu, system, kernel, .. } = self;
        let memory = self.memory_bytes >> 30;
        write!(f, "{processors} processors, {cpu}, {memory} GiB, {system}, Linux {kernel}")
    }
}

impl Host {
    pub(crate) fn describe() -> Self {
        let environment = Environment::capture();
        let commit = testbed::succeeds("git", &["describe", "--always", "--dirty"]);
        Self {
            cpu: environment.cpu.model,
            processors: environment.cpu.count,
            memory_bytes: environment.memory,
            kernel: environment.kernel,
            system: environment.system,
            date: record::Timestamp::now().to_string().chars().take(10).collect(),
            commit: commit.unwrap_or_else(|_| "unknown".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_for_a_disk_is_idle_and_steal_is_busy() {
        let before = Processors::parse("cpu  100 0 100 500 100 0 0 0 0 0\ncpu0 1 2 3\n").unwrap();
        let after = Processors::parse("cpu  110 0 120 530 130 0 0 10 5 0\n").unwrap();
        assert_eq!(after.since(before), Shares { busy: 0.4, steal: 0.1 });
        assert_eq!(Processors::parse("intr 1 2 3"), None);
        assert_eq!(Processors::parse("cpu  1 2"), None);
    }

    #[test]
    fn a_machine_that_others_use_is_refused_unless_forced() {
        assert!(must_be_quiet(0.04, false).is_ok());
        assert!(must_be_quiet(0.5, true).is_ok());
        assert!(must_be_quiet(0.5, false).unwrap_err().to_string().contains("others use 50 %"));
    }
}
