//! Turns the parser's errors into ours.
//!
//! serde reports an unknown key as text ("unknown field `listn`, expected one of `listen`,
//! `admin`"); the words between backquotes are all that is needed for a suggestion.

use crate::{Error, Source};

pub(crate) fn explain(source: &Source, error: &toml::de::Error) -> Error {
    let message = error.message();
    let at = |what: String| match error.span() {
        Some(span) => source.error(span, what),
        None => source.missing(what),
    };
    let mut words = message.split('`').skip(1).step_by(2);
    for (prefix, thing) in [("unknown field", "key"), ("unknown variant", "value")] {
        if message.starts_with(prefix) {
            let word = words.next().unwrap_or_default().to_owned();
            return at(format!("unknown {thing} \"{word}\"")).suggest(&word, words);
        }
    }
    if message.starts_with("missing field") {
        let word = words.next().unwrap_or_default();
        return at(format!("key \"{word}\" is missing"));
    }
    at(message.replace('\n', "; "))
}
