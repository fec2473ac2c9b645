//! Parses a [`Source`], and turns the parser's errors into ours.
//!
//! serde reports an unknown key as text ("unknown field `listn`, expected one of `listen`,
//! `admin`"); the words between backquotes are all that is needed for a suggestion.

use serde::de::DeserializeOwned;

use crate::error::Error;
use crate::source::Source;

impl Source {
    /// Parses the text; `T` should refuse unknown fields (`#[serde(deny_unknown_fields)]`).
    ///
    /// # Errors
    /// The first thing that is wrong, with its line.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, Error> {
        toml::from_str(self.text()).map_err(|error| explain(self, &error))
    }
}

fn explain(source: &Source, error: &toml::de::Error) -> Error {
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
    if let Some((found, expected)) = mistaken(message) {
        return at(format!("{found} cannot stand here")).mend(format!("expected {expected}"));
    }
    if message == "wanted string or table" {
        return at("this cannot stand here".to_owned()).mend("expected a word in quotes");
    }
    at(message.replace('\n', "; "))
}

/// What was found and what was expected, in the words of the file instead of serde's ("invalid
/// type: integer `5`, expected a string").
fn mistaken(message: &str) -> Option<(&str, &str)> {
    let rest =
        ["invalid type: ", "invalid value: "].iter().find_map(|prefix| message.strip_prefix(prefix))?;
    let (found, expected) = rest.split_once(", expected ")?;
    let expected = expected.trim_end();
    let table = |word: &str| word.starts_with("struct ") || word == "a map" || word == "map";
    Some(match (found, expected) {
        ("map", "a sequence" | "a list" | "sequence") => {
            ("a single table", "a list of tables: write its name in double brackets, as in [[name]]")
        }
        ("map", expected) => ("a table", expected),
        ("sequence", expected) => ("a list", expected),
        (found, expected) => {
            let quoted =
                found.split_once('`').and_then(|(_, rest)| rest.split_once('`')).map(|(value, _)| value);
            let found = quoted.unwrap_or_else(|| found.strip_prefix("string ").unwrap_or(found));
            let expected = match expected {
                expected if table(expected) => "a table",
                "a sequence" => "a list",
                "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number",
                "a boolean" => "true or false",
                expected => expected,
            };
            (found, expected)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    enum Word {
        One,
    }

    #[derive(Debug, Deserialize)]
    struct Table {
        _text: Option<String>,
        _number: Option<u16>,
        _switch: Option<bool>,
        _list: Option<Vec<u8>>,
        _word: Option<Word>,
        _table: Option<Box<Table>>,
    }

    #[test]
    fn what_cannot_stand_there_is_said_in_the_words_of_the_file() {
        for (text, said) in [
            ("_text = 5", "5 cannot stand here; expected a string"),
            ("_text = true", "true cannot stand here; expected a string"),
            ("_text = []", "a list cannot stand here; expected a string"),
            ("[_text]", "a table cannot stand here; expected a string"),
            ("_number = 'x'", "\"x\" cannot stand here; expected a whole number"),
            ("_number = 70000", "70000 cannot stand here; expected a whole number"),
            ("_switch = 1", "1 cannot stand here; expected true or false"),
            (
                "[_list]",
                "a single table cannot stand here; expected a list of tables: write its name in double brackets, as in [[name]]",
            ),
            ("_word = 1", "this cannot stand here; expected a word in quotes"),
            ("_table = 1.5", "1.5 cannot stand here; expected a table"),
        ] {
            let error = Source::new("x", text).parse::<Table>().unwrap_err().to_string();
            assert_eq!(error, format!("x:1: {said}"), "{text}");
        }
        assert!(Source::new("x", "_word = 'one'").parse::<Table>().is_ok());
    }
}
