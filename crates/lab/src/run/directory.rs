//! Directories of tests, and files of the record.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use crate::error::Error;
use crate::spec::experiment::Spec;
use crate::spec::workload_files::data;

/// How the server of a test was started, and its configuration.
pub(super) const SERVER: &str = "server.json";
/// The workload's file, in the record and where a test has one of its own.
pub(super) const WORKLOAD: &str = "workload.toml";

/// An empty directory for a run, whatever a broken attempt or an interrupted experiment left there.
pub(super) fn empty(directory: &Path) -> Result<(), Error> {
    match fs::remove_dir_all(directory) {
        Err(why) if why.kind() != ErrorKind::NotFound => return Err(Error::io("empty", directory)(why)),
        _ => {}
    }
    fs::create_dir_all(directory).map_err(Error::io("create", directory))
}

/// The workload of a spec as the files that are kept of it: its own, and the data that it takes, which stands beside it.
pub(super) fn kept(spec: &Spec) -> Result<Vec<(String, String)>, Error> {
    let mut files = vec![(WORKLOAD.to_owned(), text(&spec.kept_workload())?)];
    if let Some(path) = data(&spec.workload_table) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        files.push((name, fs::read_to_string(&path).map_err(Error::io("read", &path))?));
    }
    Ok(files)
}

/// A workload as a file.
pub(super) fn text(table: &toml::Table) -> Result<String, Error> {
    toml::to_string(table)
        .map_err(|why| Error::Setting { setting: "workload".to_owned(), why: why.to_string() })
}
