//! What the spec and the workload say, read loosely: their shapes belong to `lab` and `traffic`,
//! and a report must be had of a record whose spec an older or newer version wrote.

use std::collections::BTreeSet;
use std::path::Path;

use toml::Table;
use units::{Counted, Span};

use super::fact::{Fact, fact};
use crate::text::setting;

/// The workload in a sentence: `6 pages with 3 embedded objects, ...`.
pub(super) fn workload(directory: &Path) -> Option<Fact> {
    requested(directory).or_else(|| sessions(directory))
}

/// What is asked for again and again.
fn requested(directory: &Path) -> Option<Fact> {
    let table = read(&directory.join("spec.toml"))?;
    let workload = table.get("workload")?;
    let words = |key: &str| workload.get(key)?.as_str();
    let what = words("url").map(|url| format!("requests for {url}"));
    let what = what.or_else(|| words("model").map(|model| format!("requests of the model {model}")))?;
    let most = match workload.get("requests-per-connection").and_then(toml::Value::as_integer) {
        Some(1) => ", each on a connection of its own".to_owned(),
        Some(most) => format!(", up to {most} on a connection"),
        None => String::new(),
    };
    Some(fact("Workload", what + &most))
}

fn sessions(directory: &Path) -> Option<Fact> {
    let table = read(&directory.join("workload.toml"))?;
    let pages: Vec<&Table> =
        table.get("page")?.as_array()?.iter().filter_map(|page| page.as_table()).collect();
    let embedded: usize =
        pages.iter().filter_map(|page| page.get("embedded")?.as_array()).map(Vec::len).sum();
    let pauses: Span = pages.iter().filter_map(|page| span(page, "think")).sum();
    // Those that chance has a part in are a law and its mean.
    let laws = pages.iter().filter_map(|page| page.get("think")?.as_str());
    let laws: BTreeSet<&str> = laws.filter(|think| think.contains(':')).collect();
    let mut parts = vec![format!(
        "{} with {} in a session",
        Counted(pages.len(), "page"),
        Counted(embedded, "embedded object")
    )];
    if !pauses.is_zero() {
        parts.push(format!("{} of pauses in all", setting(pauses)));
    }
    parts.extend(laws.iter().map(|law| format!("pauses by {law}")));
    if let Some(timeout) = span(&table, "timeout") {
        parts.push(format!("{} allowed for a request", setting(timeout)));
    }
    Some(fact("Workload", parts.join(", ")))
}

/// Which processors were for whom, where the spec says so.
pub(super) fn pinning(directory: &Path) -> Option<Fact> {
    let table = read(&directory.join("spec.toml"))?;
    let cpus = |part: &str, who: &str| Some(format!("{who} {}", table.get(part)?.get("cpus")?.as_str()?));
    let parts: Vec<String> =
        [cpus("server", "server and gate"), cpus("client", "generator")].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| fact("Pinned to processor", parts.join(", ")))
}

fn read(path: &Path) -> Option<Table> {
    std::fs::read_to_string(path).ok()?.parse().ok()
}

fn span(table: &Table, key: &str) -> Option<Span> {
    table.get(key)?.as_str()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(fact: Option<Fact>) -> String {
        fact.map_or("nothing".to_owned(), |fact| fact.value)
    }

    #[test]
    fn a_workload_is_told_in_a_sentence() {
        let directory = tempfile::tempdir().unwrap();
        let text = "timeout = '2s'\n[[page]]\nurl = '/a'\nthink = '300ms'\nembedded = ['/b', '/c']\n\
                    [[page]]\nurl = '/d'\nthink = '1s'\n";
        std::fs::write(directory.path().join("workload.toml"), text).unwrap();
        assert_eq!(
            value(workload(directory.path())),
            "2 pages with 2 embedded objects in a session, 1.3 s of pauses in all, 2 s allowed for a request"
        );
    }

    #[test]
    fn what_a_file_does_not_say_is_left_out() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(value(workload(directory.path())), "nothing");
        std::fs::write(directory.path().join("workload.toml"), "kind = 'requests'").unwrap();
        std::fs::write(directory.path().join("spec.toml"), "[server]\ncpus = '0'").unwrap();
        assert_eq!(value(workload(directory.path())), "nothing");
        assert_eq!(value(pinning(directory.path())), "server and gate 0");
    }
}
