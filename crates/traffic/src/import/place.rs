//! Places in files that others have written.

use config::{Error, Source};
use serde_json::error::Category;

/// An error in the line where `text` first stands in the file, or of the file as a whole.
pub(super) fn of_text(source: &Source, text: &str, what: impl Into<String>) -> Error {
    match source.text().find(text) {
        Some(at) => source.error(at..at, what),
        None => source.missing(what),
    }
}

/// An error in a line, from 1.
pub(super) fn of_line(source: &Source, line: usize, what: impl Into<String>) -> Error {
    let ends = source.text().match_indices('\n').map(|(at, _)| at + 1);
    let at = std::iter::once(0).chain(ends).nth(line.saturating_sub(1)).unwrap_or(source.text().len());
    source.error(at..at, what)
}

/// What is wrong with JSON.
pub(super) fn of_json(source: &Source, why: &serde_json::Error) -> Error {
    if why.is_eof() {
        let error = of_line(source, why.line(), "the file ends in the middle");
        return error.mend("export it anew; it was cut off");
    }
    let what = why.to_string();
    let what = what.rsplit_once(" at line ").map_or(what.as_str(), |(what, _)| what);
    let mend = match why.classify() {
        Category::Syntax => {
            "export it anew, or mend the JSON there; a program that checks JSON shows what is before"
        }
        _ => "export it anew, with a tool that writes what the format's description asks for",
    };
    of_line(source, why.line(), what).mend(mend)
}

/// The text without a byte order mark.
pub(super) fn text(source: &Source) -> &str {
    source.text().trim_start_matches('\u{feff}')
}

/// What the file is called, without its directories.
pub(super) fn name(source: &Source) -> String {
    let whole = source.whole().to_string();
    std::path::Path::new(&whole).file_name().map_or(whole.clone(), |name| name.to_string_lossy().into_owned())
}
