//! Directories of tests, and files of the record.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use crate::error::Error;

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

/// A workload as a file.
pub(super) fn text(table: &toml::Table) -> Result<String, Error> {
    toml::to_string(table)
        .map_err(|why| Error::Setting { setting: "workload".to_owned(), why: why.to_string() })
}
