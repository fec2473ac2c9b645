//! What dashboards and alerts ask Prometheus for.

use std::collections::{BTreeMap, BTreeSet};

/// The names of metrics in a text that begin with one of `prefixes`.
pub(crate) fn names(text: &str, prefixes: &[&str]) -> BTreeSet<String> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let words = text.split(|letter| !is_part(letter));
    let is_metric = |word: &&str| prefixes.iter().any(|prefix| word.starts_with(prefix));
    words.filter(is_metric).map(str::to_owned).collect()
}

/// The labels, and for each the values, of every metric of an exposition.
pub(crate) fn labels(exposition: &str) -> BTreeMap<String, BTreeMap<String, BTreeSet<String>>> {
    let mut all: BTreeMap<String, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
    for line in exposition.lines().filter(|line| !line.starts_with('#')) {
        let name = line.split(['{', ' ']).next().unwrap_or_default();
        let of_name = all.entry(name.to_owned()).or_default();
        let Some((inside, _)) = line.split_once('{').and_then(|(_, rest)| rest.split_once('}')) else {
            continue;
        };
        for pair in inside.split("\",") {
            if let Some((label, value)) = pair.split_once("=\"") {
                let values = of_name.entry(label.to_owned()).or_default();
                values.insert(value.trim_end_matches('"').to_owned());
            }
        }
    }
    all
}

/// Of a query, each metric with its matchers: label, and value with the quotes gone.
pub(crate) fn matchers(query: &str, prefix: &str) -> Vec<(String, Vec<(String, String)>)> {
    let mut found = Vec::new();
    let mut rest = query;
    while let Some(at) = rest.find(prefix) {
        rest = &rest[at..];
        let end =
            rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').unwrap_or(rest.len());
        let (name, behind) = rest.split_at(end);
        let inside = behind
            .strip_prefix('{')
            .and_then(|inside| inside.split_once('}'))
            .map_or("", |(inside, _)| inside);
        let pairs = inside.split("\",").filter_map(|pair| {
            let (label, value) = pair.split_once('=')?;
            let value = value.trim_start_matches('~').trim_matches('"');
            Some((label.trim_end_matches('!').trim().to_owned(), value.to_owned()))
        });
        found.push((name.to_owned(), pairs.collect()));
        rest = behind;
    }
    found
}

/// The labels that a query groups by.
pub(crate) fn grouped(query: &str) -> BTreeSet<String> {
    let lists = query.split(" by (").skip(1).filter_map(|rest| rest.split_once(')'));
    lists.flat_map(|(list, _)| list.split(',').map(|label| label.trim().to_owned())).collect()
}
