//! The page that `web/` builds, filled with a report's data.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::error::Error;

/// The whole page: markup, style and script in one file.
const PAGE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../web/dist/report.html"));

/// Where the page expects its data.
const OPEN: &str = r#"<script id="data" type="application/json">"#;
const CLOSE: &str = "</script>";

/// Writes the page, filled with `data`, as `report.html` into `directory` and returns its path. An older
/// report is replaced in one step.
pub(crate) fn write(data: &impl Serialize, directory: &Path) -> Result<PathBuf, Error> {
    let json = serde_json::to_string(data).map_err(|why| Error::Page(why.to_string()))?;
    let page = filled(PAGE, &json)?;
    let path = directory.join("report.html");
    record::replace(&path, &page)?;
    Ok(path)
}

/// The page with `json` as its data.
fn filled(page: &str, json: &str) -> Result<String, Error> {
    let no_place = || Error::Page("it has no place for data; run `make web` and build again".to_owned());
    let (head, rest) = page.split_once(OPEN).ok_or_else(no_place)?;
    let (_, tail) = rest.split_once(CLOSE).ok_or_else(no_place)?;
    Ok([head, OPEN, &inert(json), CLOSE, tail].concat())
}

/// JSON that cannot end the script element it stands in, nor open a comment there: within a
/// string, which is the only place where `<` occurs in JSON, `\u003c` means that as well
/// (HTML Living Standard, 4.12.1.3, "Restrictions for contents of script elements").
fn inert(json: &str) -> String {
    json.replace('<', "\\u003c")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_stays_in_its_place() {
        let title = r#"{"title":"</script><script>alert(1)</script><!--"}"#;
        let page = filled(PAGE, title).unwrap();
        let at = page.find(OPEN).unwrap() + OPEN.len();
        let inside = page.get(at..).and_then(|rest| rest.split_once(CLOSE)).unwrap().0;
        assert!(!inside.contains('<'), "{inside}");
        let read: serde_json::Value = serde_json::from_str(inside).unwrap();
        assert_eq!(read.get("title").unwrap(), "</script><script>alert(1)</script><!--");
    }

    #[test]
    fn the_page_stands_alone() {
        for outside in ["<link rel=\"stylesheet\"", "src=\"http", "src=\"/", "url(http"] {
            assert!(!PAGE.contains(outside), "the page loads something: {outside}");
        }
    }
}
