//! Reading a spec, with what `--set` and the levels of factors change in it.

use std::path::Path;

use config::Source;
use toml::{Table, Value};

use super::experiment::{Spec, TOOL};
use super::place::without_place;
use super::{file, settings};
use crate::error::Error;

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

    /// Whether every level is something that can be set where its factor says.
    fn check_levels(&self, source: &Source) -> Result<(), config::Error> {
        for factor in self.factors.iter().filter(|factor| factor.is_of_spec()) {
            for level in &factor.levels {
                if let Err(why) = self.with(&[(factor.name.clone(), level.clone())]) {
                    let what = format!("factor \"{}\" at level {level}: {why}", factor.name);
                    return Err(source.error(factor.place.clone(), what));
                }
            }
        }
        Ok(())
    }
}

/// The spec in `table`, or what is wrong with it in words that name no place: its text was not written by a person.
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

#[cfg(test)]
mod tests;
