//! What an experiment is: the spec, read, checked and with its defaults filled in.

pub(crate) mod factors;
mod file;
mod peers;
mod prediction;
mod resources;
mod schema;
mod search;
pub(crate) mod server;
mod settings;
mod workload;

use std::path::{Path, PathBuf};

use config::Source;
use testbed::{Cpus, Resources};
use toml::{Table, Value};
use traffic::Workload;
use units::{Rate, Span};

pub(crate) use factors::{Combinations, Factor};
pub(crate) use peers::Peers;
pub(crate) use prediction::Predicted;
pub use schema::schema;
pub(crate) use search::Sought;
pub(crate) use server::{Kind, Server};
pub(crate) use workload::{Asked, Cold, What};

use crate::{Error, peer};

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
    pub(crate) peers: Option<Peers>,
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
    directory: PathBuf,
}

/// What is compared at each level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Subject {
    /// The server alone.
    Bare,
    /// The server behind the gate.
    Gate,
    /// The server behind other software.
    Haproxy,
    Nginx,
    #[serde(rename = "mod_qos")]
    ModQos,
}

impl Subject {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Bare => "bare",
            Self::Gate => "gate",
            Self::Haproxy => "haproxy",
            Self::Nginx => "nginx",
            Self::ModQos => "mod_qos",
        }
    }

    /// The other software, if it is some.
    pub(crate) const fn peer(self) -> Option<peer::Kind> {
        match self {
            Self::Bare | Self::Gate => None,
            Self::Haproxy => Some(peer::Kind::Haproxy),
            Self::Nginx => Some(peer::Kind::Nginx),
            Self::ModQos => Some(peer::Kind::ModQos),
        }
    }
}

/// A class whose load is the same at every level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Constant {
    /// Its number in the workload.
    pub(crate) class: usize,
    /// Times the capacity.
    pub(crate) load: f64,
}

/// In which order the tests are done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Order {
    /// Level by level as they stand in the spec, the subjects side by side.
    #[default]
    Given,
    /// Shuffled within each repeat, so that drift of the machine hits all alike.
    Random,
}

/// How long each test takes; a search has times of its own.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Test {
    pub(crate) warmup: Span,
    pub(crate) duration: Span,
    /// The longest wait for the machine to come to rest before a test.
    pub(crate) settle: Span,
}

/// How the load that the levels multiply is known.
#[derive(Debug, Clone)]
pub(crate) enum Capacity {
    /// It was stated.
    Fixed(Rate),
    /// Found by a closed loop of so many sessions that never pause.
    Search { concurrency: u32, warmup: Span, duration: Span },
    /// It is what the experiment is about: each test finds it.
    Sought(Sought),
}

impl Spec {
    /// Reads the spec at `path` and applies `--set` settings to it. The file must be in order
    /// by itself, so that what is wrong with the settings applied is theirs.
    pub(crate) fn read(path: &Path, settings: &[String]) -> Result<Self, Error> {
        let directory = path.parent().unwrap_or(Path::new("."));
        let source = Source::read(path)?;
        if let Some(mut spec) = repeated(&source)? {
            // Keys of the workload that the record has would hide those of another file.
            if settings.iter().any(|setting| setting.starts_with("workload.file=")) {
                spec.remove("workload");
            }
            return Self::with_settings(&spec, directory, settings);
        }
        let spec = file::check(&source, directory)?;
        spec.check_levels(&source)?;
        if settings.is_empty() {
            return Ok(spec);
        }
        Self::with_settings(&source.parse()?, directory, settings)
    }

    /// The spec in `table` with settings applied to it.
    fn with_settings(table: &Table, directory: &Path, settings: &[String]) -> Result<Self, Error> {
        let mut table = table.clone();
        let mut result = checked(&table, directory);
        // One setting may need the next; so the last state counts, and the states before it tell
        // which setting brought the error.
        let mut faults = Vec::with_capacity(settings.len());
        for setting in settings {
            settings::apply(&mut table, setting)?;
            result = checked(&table, directory);
            faults.push(result.as_ref().err().cloned());
        }
        result.map_err(|why| {
            let first = faults.iter().position(|fault| fault.as_ref() == Some(&why));
            let setting = first.and_then(|index| settings.get(index)).or(settings.last()).cloned();
            let setting = setting.unwrap_or_default();
            Error::Setting { setting, why }
        })
    }
}

impl Spec {
    /// All of it in one table, with the workload that a file of its own may hold.
    pub(crate) fn whole(&self) -> Table {
        let mut table: Table = toml::from_str(&self.text).unwrap_or_default();
        let has_file = table.get("workload").is_some_and(|workload| workload.get("file").is_some());
        if has_file {
            table.insert("workload".to_owned(), Value::Table(self.workload_table.clone()));
        }
        table
    }

    /// The spec with some of its values set otherwise, by their places in it: what a test has of its own.
    ///
    /// # Errors
    /// What is wrong with them, in words that name no place.
    pub(crate) fn with(&self, own: &[(String, Value)]) -> Result<Self, String> {
        let mut table: Table = toml::from_str(&self.text).map_err(|why| why.to_string())?;
        for (place, value) in own {
            settings::set_key(&mut table, place, value.clone())?;
        }
        let text = toml::to_string(&table).map_err(|why| why.to_string())?;
        file::check(&Source::new("", text), &self.directory).map_err(|why| without_place(&why))
    }

    /// Whether each test looks for the knee.
    pub(crate) fn is_search(&self) -> bool {
        matches!(self.capacity, Capacity::Sought(_))
    }

    /// Whether every level is something that can be set where its factor says.
    fn check_levels(&self, source: &Source) -> Result<(), config::Error> {
        for factor in self.factors.iter().filter(|factor| factor.is_of_scene()) {
            for level in &factor.levels {
                if let Err(why) = self.with(&[(factor.name.clone(), level.clone())]) {
                    let what = format!("factor \"{}\" at level {level}: {why}", factor.name);
                    return Err(source.error(factor.place.clone(), what));
                }
            }
        }
        Ok(())
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
    fn shares_at(&self, load: f64) -> Vec<f64> {
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

/// The spec in `table`, or what is wrong with it in words that name no place: nobody wrote its text.
fn checked(table: &Table, directory: &Path) -> Result<Spec, String> {
    let text = toml::to_string(table).map_err(|error| error.to_string())?;
    let source = Source::new("", text);
    let spec = file::check(&source, directory).map_err(|error| without_place(&error))?;
    spec.check_levels(&source).map_err(|error| without_place(&error))?;
    Ok(spec)
}

/// The spec in the `run.toml` of an experiment, if that is what this is.
fn repeated(source: &Source) -> Result<Option<Table>, Error> {
    if !source.text().contains("tool = \"lab\"") {
        return Ok(None);
    }
    let mut table: Table = source.parse()?;
    let is_ours = table.get("tool").and_then(Value::as_str) == Some(TOOL);
    Ok(match table.remove("spec") {
        Some(Value::Table(spec)) if is_ours => Some(spec),
        _ => None,
    })
}

/// The seed in the `run.toml` of an experiment, if that is what is at `path`.
pub(crate) fn seed(path: &Path) -> Option<u64> {
    let source = Source::read(path).ok()?;
    repeated(&source).ok()??;
    let table: Table = source.parse().ok()?;
    table.get("seed")?.as_integer()?.try_into().ok()
}

/// An error's text without file and line, where those would be of a text that nobody wrote.
fn without_place(error: &config::Error) -> String {
    let text = error.to_string();
    match text.split_once(": ") {
        Some((place, rest)) if place.trim_start_matches(':').chars().all(|c| c.is_ascii_digit()) => {
            rest.to_owned()
        }
        _ => text,
    }
}

#[cfg(test)]
mod tests;
