//! [`Spec`]: an experiment as it is to be done.

use std::path::{Path, PathBuf};

use testbed::{Cpus, Resources};
use toml::{Table, Value};
use traffic::Workload;
use units::Span;

use super::contenders::ContenderSettings;
use super::design::{Constant, Order};
use super::factors::{Combinations, Factor};
use super::method::{Capacity, Test};
use super::prediction::Predicted;
use super::server::Server;
use super::settings;
use super::subject::Subject;
use super::workload::Asked;
use super::workload_files;

/// The tool that a record says it is of.
pub(crate) const TOOL: &str = "lab";

/// An experiment as it is to be done.
#[derive(Debug)]
pub(crate) struct Spec {
    pub(crate) title: String,
    pub(crate) server: Server,
    /// What server and generator run on.
    pub(crate) resources: Resources,
    /// What is asked for, where that is more than sessions.
    pub(crate) asked: Asked,
    /// Sessions; of a URL alone those of one page.
    pub(crate) workload: Workload,
    /// The workload as the generator reads it.
    pub(crate) workload_table: Table,
    pub(crate) gate: Option<Table>,
    pub(crate) contenders: Option<ContenderSettings>,
    pub(crate) subjects: Vec<Subject>,
    /// What is varied, first that which figures have on their axis.
    pub(crate) factors: Vec<Factor>,
    pub(crate) combinations: Combinations,
    /// Classes whose load is the same at every level.
    pub(crate) constant: Vec<Constant>,
    pub(crate) repeats: u32,
    pub(crate) order: Order,
    pub(crate) test: Test,
    pub(crate) capacity: Capacity,
    /// How often the server is looked at in tests at given loads; nothing for not at all.
    pub(crate) sampling: Option<Span>,
    /// What is to be predicted after each search.
    pub(crate) prediction: Option<Predicted>,
    pub(crate) client_cpus: Cpus,
    /// The spec's text with all that was set on the command line.
    pub(crate) text: String,
    /// What file names in it are relative to.
    pub(super) directory: PathBuf,
}

impl Spec {
    /// All of it in one table, with the workload that a file of its own may hold.
    pub(crate) fn whole(&self) -> Table {
        let mut table: Table = toml::from_str(&self.text).unwrap_or_default();
        let has_file = table.get("workload").is_some_and(|workload| workload.get("file").is_some());
        if has_file || workload_files::data(&self.workload_table).is_some() {
            table.insert("workload".to_owned(), Value::Table(self.kept_workload()));
        }
        table
    }

    /// The workload as it is kept: what it takes its data from stands beside it.
    pub(crate) fn kept_workload(&self) -> Table {
        let mut table = self.workload_table.clone();
        if let Some(name) = workload_files::data(&table).as_deref().and_then(Path::file_name) {
            workload_files::name_data(&mut table, Path::new(name));
        }
        table
    }

    /// Whether each test looks for the capacity.
    pub(crate) fn is_search(&self) -> bool {
        matches!(self.capacity, Capacity::Searched(_))
    }

    /// The gate's settings with those that a test has of its own.
    pub(crate) fn gate_with(&self, own: &[(String, Value)]) -> Option<Table> {
        let mut gate = self.gate.clone()?;
        for (key, value) in own {
            // Whether it can be set was checked when the factors were read.
            settings::set_key(&mut gate, key, value.clone()).ok()?;
        }
        Some(gate)
    }

    /// The workload when so many times the capacity is offered, where that is not the same at every load.
    pub(crate) fn workload_at(&self, load: f64) -> Option<Table> {
        if self.constant.is_empty() {
            return None;
        }
        let mut table = self.workload_table.clone();
        for (class, share) in table.get_mut("class")?.as_array_mut()?.iter_mut().zip(self.shares_at(load)) {
            class.as_table_mut()?.insert("share".to_owned(), Value::Float(share));
        }
        Some(table)
    }

    /// Shares of the classes: what constant ones take, the rest in the proportions of the workload.
    pub(super) fn shares_at(&self, load: f64) -> Vec<f64> {
        let shares = self.workload.shares();
        let constant = |class: usize| self.constant.iter().find(|constant| constant.class == class);
        let taken: f64 = self.constant.iter().map(|class| class.load / load).sum();
        let others: f64 =
            (0..).zip(&shares).filter(|(class, _)| constant(*class).is_none()).map(|(_, s)| s).sum();
        let share = |(class, share): (usize, &f64)| match constant(class) {
            Some(constant) => constant.load / load,
            None => (1.0 - taken) * share / others,
        };
        (0..).zip(&shares).map(share).collect()
    }
}
