//! [`Conditions`]: what is to be known of all runs of a benchmark.

use anyhow::bail;
use serde_json::Value;
use testbed::Isolation;

use crate::results::machine::{self, Host, Noise, Shares};
use crate::results::page;
use crate::results::raw::Setting;
use crate::servers::server::{GENERATOR_CPU, SERVER_CPU};

/// The machine, and how runs are kept apart on it.
#[derive(Debug)]
pub(crate) struct Conditions {
    pub(crate) setting: Setting,
    pub(crate) isolation: Isolation,
}

/// What a benchmark needs.
#[derive(Debug)]
pub(crate) struct Needs {
    /// The page that it writes.
    pub(crate) page: &'static str,
    /// How many descriptors it opens.
    pub(crate) descriptors: u64,
    /// What needs a processor of its own, as the beginning of a sentence.
    pub(crate) processors: &'static str,
}

impl Conditions {
    /// Finds it out; nothing else may use the machine, unless `force`. `versions` are those of what takes part: that
    /// something is missing is found out here, not after ten minutes.
    pub(crate) fn find(
        needs: &Needs,
        versions: anyhow::Result<Vec<String>>,
        force: bool,
    ) -> anyhow::Result<Self> {
        page::must_be_here(needs.page)?;
        let versions = versions?;
        machine::raise_descriptors(needs.descriptors)?;
        let host = Host::describe();
        if host.processors < 2 {
            bail!("{}, and this machine has one", needs.processors);
        }
        let setting = Setting::find(host, versions, force)?;
        let isolation = Isolation::find();
        eprintln!("{}", isolation.describe());
        Ok(Self { setting, isolation })
    }

    /// How many processors the machine has.
    pub(crate) fn processors(&self) -> u32 {
        self.setting.host.processors
    }

    /// As raw results have it, with what only one benchmark knows.
    pub(crate) fn about_all(&self, name: &str, rate: Option<f64>) -> Value {
        self.setting.about(&[("network", self.isolation.describe().into()), (name, rate.into())])
    }

    /// What others did to the figures; of each run, what others used and what all processors did.
    pub(crate) fn noise(&self, runs: impl Iterator<Item = (f64, Shares)>) -> Noise {
        Noise::of(self.setting.busy, runs)
    }

    /// The last section of a page: on which machine, `how`, and by which commands.
    pub(crate) fn where_measured(&self, how: &str, commands: &str) -> String {
        let Setting { host, versions, command, .. } = &self.setting;
        format!(
            "### Where\n\n`{command}` at commit {}, {}. {how}. {}\n\n{commands}\nHost: {host}. {}.\n",
            host.commit,
            host.date,
            self.isolation.describe(),
            versions.join(", ")
        )
    }

    /// For tests of tables.
    #[cfg(test)]
    pub(crate) fn example() -> Self {
        Self { setting: Setting::example(), isolation: Isolation::Host }
    }
}

/// Commands of a run, each with its processor: the last one is the generator's.
pub(crate) fn pinned(commands: &[String]) -> Vec<String> {
    let cpus = [SERVER_CPU, GENERATOR_CPU].into_iter().skip(2_usize.saturating_sub(commands.len()));
    commands.iter().zip(cpus).map(|(command, cpu)| format!("    taskset -c {cpu} {command}\n")).collect()
}

/// Sections of a page that say something.
pub(crate) fn page_of(sections: impl IntoIterator<Item = String>) -> String {
    let sections: Vec<_> = sections.into_iter().filter(|section| !section.is_empty()).collect();
    sections.join("\n")
}
