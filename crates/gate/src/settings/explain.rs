//! `explain`: to whom the gate says in headers what it decided.

use config::{Error, Source, Spanned};

use crate::dispatch::debug_headers::Explain;
use crate::settings::file::Texts;
use crate::settings::pattern;

/// `"off"`, `"on"`, or networks.
pub(super) fn resolve(source: &Source, texts: &Texts) -> Result<Explain, Error> {
    let words: Vec<&str> = texts.0.iter().map(|text| text.get_ref().as_str()).collect();
    match words[..] {
        [] | ["off"] => Ok(Explain::Off),
        ["on"] => Ok(Explain::On),
        [word] if !word.contains(['.', ':']) => {
            let place = texts.0.first().map_or(texts.1.clone(), Spanned::span);
            let what = format!("explain is \"{word}\"");
            Err(source.error(place, what).mend("give \"off\", \"on\" or a list of networks"))
        }
        _ => texts
            .0
            .iter()
            .map(|text| pattern::network(source, text))
            .collect::<Result<_, _>>()
            .map(Explain::To),
    }
}
