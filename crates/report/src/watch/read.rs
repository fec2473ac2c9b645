//! From the directories of watches to what is reported of them.

use std::fs;
use std::path::{Path, PathBuf};

use record::RunDirectory;

use super::model::WatchReport;
use super::watched::{WATCH, Watched};
use super::{headline, method, tables, time};
use crate::conclusion::Conclusion;
use crate::error::Error;
use crate::files;

impl WatchReport {
    /// Whether a directory holds a watch, or watches side by side.
    pub(crate) fn is_in(directory: &Path) -> bool {
        !inside(directory).is_empty()
    }

    /// Derives the report of the watch in `directory`, or of the watches in directories there, which are
    /// `NAME/watch`: side by side, with what the load generator saw in `NAME/load`.
    ///
    /// # Errors
    /// When the directory holds nothing of the kind, or it cannot be read.
    pub fn read(directory: &Path) -> Result<Self, Error> {
        let inside = inside(directory);
        let watches = inside.into_iter().map(|(name, path)| Watched::read(&path, name));
        let mut watches = watches.collect::<Result<Vec<_>, _>>()?;
        // As they were made; by name where that does not tell.
        watches.sort_by_key(|watched| watched.info.started);
        let Some(first) = watches.first() else { return Err(Error::NotARecord(directory.to_owned())) };
        let looks = time::looks(&watches);
        let mut report = Self {
            title: method::subject(first),
            started: first.info.started,
            version: first.info.version.clone(),
            verdict: Conclusion::default(),
            warnings: warnings(&watches),
            tables: tables::of(&watches),
            figures: time::figures(&watches, &looks),
            looks,
            method: method::facts(&watches),
            sources: method::sources(directory),
            files: files::names(directory),
        };
        report.verdict = headline::of(&watches);
        Ok(report)
    }
}

/// The watches in a directory, by name: itself, its own `watch`, or those of the directories in it.
fn inside(directory: &Path) -> Vec<(String, PathBuf)> {
    let itself = [directory.to_owned(), directory.join(WATCH)];
    if let Some(path) = itself.into_iter().find(|path| is_watch(path)) {
        return vec![(String::new(), path)];
    }
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let watches = entries.filter_map(|entry| {
        let entry = entry.ok()?;
        let path = entry.path().join(WATCH);
        Some((entry.file_name().into_string().ok()?, path)).filter(|(_, path)| is_watch(path))
    });
    let mut watches: Vec<_> = watches.collect();
    watches.sort();
    watches
}

fn is_watch(path: &Path) -> bool {
    let info = RunDirectory::open(path).and_then(|run| run.info());
    info.is_ok_and(|info| info.tool == WATCH)
}

fn warnings(watches: &[Watched]) -> Vec<String> {
    let mut warnings = Vec::new();
    for watched in watches {
        let which = if watched.name.is_empty() { String::new() } else { format!("{}: ", watched.name) };
        if watched.info.ended.is_none() {
            let what = if watched.is_whole {
                "what it had written until then is shown"
            } else {
                "nothing of it can be read"
            };
            warnings.push(format!("{which}the watch never ended: {what}."));
        } else if watched.info.interrupted && watched.info.spec.contains_key("duration") {
            warnings.push(format!("{which}the watch was ended before its time."));
        }
        let lost = ["lost", "crowded"].map(|what| watched.figure(&["followed", what]).unwrap_or(0.0));
        if lost.iter().any(|count| *count > 0.0) {
            let [lost, crowded] = lost;
            warnings.push(format!(
                "{which}{lost} requests were more than could be taken in, {crowded} connections more than can be followed at once."
            ));
        }
        if let Some(client) = watched.client.as_ref().filter(|client| !client.why_invalid.is_empty()) {
            let why = client.why_invalid.join("; ");
            warnings.push(format!("{which}the load generator’s figures are not valid: {why}."));
        }
    }
    warnings
}
