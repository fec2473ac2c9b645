//! `explain`: to whom the gate says in headers what it decided.

use config::{Error, Source};

use super::file::Texts;
use super::pattern;
use crate::marks::Explain;

/// `"off"`, `"on"`, or networks.
pub(super) fn resolve(source: &Source, texts: &Texts) -> Result<Explain, Error> {
    let words: Vec<&str> = texts.0.iter().map(|text| text.get_ref().as_str()).collect();
    match words[..] {
        [] | ["off"] => Ok(Explain::Off),
        ["on"] => Ok(Explain::On),
        _ => texts
            .0
            .iter()
            .map(|text| pattern::network(source, text))
            .collect::<Result<_, _>>()
            .map(Explain::To),
    }
}
