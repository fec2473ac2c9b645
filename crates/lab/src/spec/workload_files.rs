//! Files that a workload names: they are to be found from wherever its own file is put.

use std::fs;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

/// The key of the table of users.
const DATA: &str = "data";
const FILE: &str = "file";

/// Takes bodies from their files into `workload`, whose own file is in `directory`, and makes the path of its data
/// absolute. What cannot be read is left to the reader of the workload, which says where it stands.
pub(super) fn gather(workload: &mut Table, directory: &Path) {
    if let Some(path) = data(workload).map(|file| directory.join(file)) {
        name_data(workload, &std::path::absolute(&path).unwrap_or(path));
    }
    let pages = workload.get_mut("page").and_then(Value::as_array_mut).into_iter().flatten();
    for body in pages.filter_map(|page| page.get_mut("body")) {
        let file = body.as_str().and_then(|text| text.strip_prefix('@'));
        if let Some(text) = file.and_then(|file| fs::read_to_string(directory.join(file)).ok()) {
            // A text that begins like the name of a file would be taken for one.
            if !text.starts_with('@') {
                *body = Value::String(text);
            }
        }
    }
}

/// The file that a workload has its data from.
pub(crate) fn data(workload: &Table) -> Option<PathBuf> {
    let data = workload.get(DATA)?;
    data.as_str().or_else(|| data.get(FILE)?.as_str()).map(PathBuf::from)
}

/// Has the workload take its data from `path`.
pub(crate) fn name_data(workload: &mut Table, path: &Path) {
    let path = Value::String(path.display().to_string());
    match workload.get_mut(DATA) {
        Some(Value::Table(data)) => drop(data.insert(FILE.to_owned(), path)),
        Some(data) => *data = path,
        None => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workload_finds_its_files_from_anywhere() {
        let scratch = tempfile::tempdir().unwrap();
        fs::write(scratch.path().join("order.json"), "{\"a\": ${n}}").unwrap();
        for data in ["\"users.csv\"", "{ file = \"users.csv\", rows = \"cycle\" }"] {
            let text = format!(
                "data = {data}\npage = [{{ url = \"/\", body = \"@order.json\" }}, {{ url = \"/\", body = \"@none\" }}]"
            );
            let mut workload: Table = text.parse().unwrap();
            gather(&mut workload, scratch.path());
            assert_eq!(super::data(&workload), Some(scratch.path().join("users.csv")));
            let body = |page: usize| workload["page"][page]["body"].as_str().unwrap();
            assert_eq!((body(0), body(1)), ("{\"a\": ${n}}", "@none"));
            let rows = workload[DATA].get("rows").and_then(Value::as_str);
            assert_eq!(rows, data.contains("rows").then_some("cycle"));
        }
        let mut without: Table = "page = [{ url = \"/\" }]".parse().unwrap();
        let before = without.clone();
        gather(&mut without, scratch.path());
        assert_eq!((data(&without), &without), (None, &before));
    }
}
