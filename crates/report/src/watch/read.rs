//! From the directories of watches to what is reported of them.

use std::path::Path;

use record::watches_in;

use super::model::WatchReport;
use super::watched::Watched;
use super::{headline, method, tables, time};
use crate::conclusion::Conclusion;
use crate::error::Error;
use crate::files;

impl WatchReport {
    /// Derives the report of the watch in `directory`, or of the watches in directories there, which are
    /// `NAME/watch`: side by side, with what the load generator saw in `NAME/load`.
    ///
    /// # Errors
    /// When the directory holds nothing of the kind, or it cannot be read.
    pub fn read(directory: &Path) -> Result<Self, Error> {
        let watches = watches_in(directory).into_iter().map(|(name, path)| Watched::read(&path, name));
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
